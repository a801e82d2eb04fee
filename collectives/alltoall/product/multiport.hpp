// Total exchange on H x H, all ports: both dimensions at once.
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
/// G = H x H, |H| = n: in each of n rounds every row and every column makes a total exchange. Along
/// its row a node sends its own blocks, with another offset of column in each round; along its
/// column those that it got in the round before. H^4 is (H^2) x (H^2), and so on.
///
/// Network   product of 1, 2, 4, 8, .. equal graphs in which every vertex is a node (dimensions of
///           one node do not count); all-port.
/// Cost      (p/n) T start-ups of one block, T the steps of H's own all-port exchange. Optimal if T
///           is the cut bound of H exactly: lines, complete graphs, rings of n != 2 modulo 4.
/// Links     neighbours only; one block per link and step.
/// Source    V. V. Dimakopoulos, N. J. Dimopoulos, A Theory for Total Exchange in Multidimensional
///           Interconnection Networks, IEEE Trans. Parallel and Distributed Systems 9(7), 1998,
///           Algorithm A3, Theorem 4, Corollary 3; offsets rotate by r - 1, modulo n - 1.
/// Throws    UsageError, before any message, for other networks or buffers that are not p blocks of
///           one size.
void alltoall_product_multiport(Node& node, ConstBlocks out, Blocks in);

void require_alltoall_product_multiport(const Topology& topology);
Prediction predict_alltoall_product_multiport(const Topology& topology);
Rounds product_multiport_rounds(const Topology& topology);

/// One level: H x H from H's exchange.
Rounds square_rounds(std::shared_ptr<const ExchangeTemplate> exchange);

}  // namespace wormcube
