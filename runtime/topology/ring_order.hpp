// The order in which a ring visits all nodes of a network, and edge-disjoint Hamiltonian cycles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace wormcube {

/// All nodes of a network, one after another, so that messages from each to the next, and from the
/// last to the first, share no link if that is known to be possible.
struct RingOrder {
  enum class Kind {
    cycle,       ///< a Hamiltonian cycle: every hop is one link
    near_cycle,  ///< a mesh with odd sides only, which has no cycle: one hop takes two links
    line,    ///< one line: the last node's message returns over the links in the other direction
    tour,    ///< leaves of trees: up and down
    search,  ///< a graph in which no cycle was found: the order with the least sharing
  };
  std::vector<Rank> nodes;
  std::vector<Rank> positions;  ///< of each node among these
  Kind kind = Kind::cycle;
  int load = 0;         ///< most of these messages on one link
  int longest_hop = 0;  ///< links
};
std::string_view to_string(RingOrder::Kind kind);

/// The same on every node. A product is walked as a comb: along the rows over all columns but the
/// first, and back through the first column. An arbitrary graph is searched for a Hamiltonian
/// cycle, with at most 10^6 visits. Takes time and memory in proportion to the nodes, and to the
/// search.
///
/// Throws UsageError for a graph that is too large for a routing table.
RingOrder ring_order(const Topology& topology);
/// The same, computed once for all nodes of a process. Any thread may call it.
std::shared_ptr<const RingOrder> shared_ring_order(const Topology& topology);

/// Directed Hamiltonian cycles from node 0, no two of which share a link: the two directions of a
/// ring, and of two cycles in a 2-D torus with sides of 3 or more. Empty for other networks.
///
/// Two edge-disjoint cycles of such a torus exist by A. Kotzig, Every Cartesian Product of Two
/// Circuits Is Decomposable into Two Hamiltonian Circuits, 1973. This rule is ours.
std::vector<std::vector<Rank>> disjoint_cycles(const Topology& topology);

}  // namespace wormcube
