// Total exchange on a product of any graphs, all ports: all dimensions at once. Our extension.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/product/plan.hpp"

namespace wormcube {

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// \param out  p blocks; block q is for node q
/// \param in   p blocks; block q comes from node q
///
/// All nodes treat their block at offset a (digit by digit, a != 0) alike. It needs one exchange in
/// each dimension i with a_i != 0, in different rounds and any order. In a round the exchange of
/// dimension i, m_i copies of it at once, serves m_i offsets for each value of a_i. Which round
/// serves which is an edge colouring: offsets on one side, (dimension, value, copy) on the other.
///
/// Network   any product of graphs in which every vertex is a node; all-port.
/// Cost      at most R L start-ups of one block: R = max(dimensions, max_i ceil((p/n_i) / m_i))
///           rounds, L the longest of the T_i(m_i) steps of m_i exchanges at once in dimension i;
///           or (R - 1) L + L', where what is left for the last round needs fewer exchanges at once.
///           The m_i are chosen for the least. p/n T on d equal graphs (for m_i = 1), any d. No
///           optimality is claimed.
/// Links     neighbours only; one block per link and step.
/// Source    ours, after A3 of V. V. Dimakopoulos, N. J. Dimopoulos, A Theory for Total Exchange in
///           Multidimensional Interconnection Networks, 1998.
/// Throws    UsageError, before any message, for other networks or buffers that are not p blocks of
///           one size.
void alltoall_product_multiport_general(Node& node, ConstBlocks out, Blocks in);

void require_alltoall_product_multiport_general(const Topology& topology);
Prediction predict_alltoall_product_multiport_general(const Topology& topology);
Rounds product_multiport_general_rounds(const Topology& topology);

/// How many exchanges run at once in each dimension, and what that costs.
struct Copies {
  std::vector<Rank> copies;  ///< m_i
  std::int64_t rounds = 0;   ///< R
  std::int64_t steps = 0;    ///< L, of each round
  /// Of the last round, where it is a shorter one (last_steps > 0); zeros otherwise.
  std::vector<Rank> last;
  std::int64_t last_steps = 0;
  std::int64_t total() const {
    return last_steps > 0 ? (rounds - 1) * steps + last_steps : rounds * steps;
  }
};
Copies choose_copies(const Topology& topology);

}  // namespace wormcube
