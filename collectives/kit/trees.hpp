// Messages in segments along trees: chains, heaps, k-nomial and in-order trees, and two trees at
// once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/positions.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace wormcube {

enum class TreeShape : std::uint8_t {
  chain,
  k_ary,     ///< a heap: the children of x are k x + 1 .. k x + k
  k_nomial,  ///< x + d k^i, d = k - 1 .. 1, for k^i below x's lowest digit that is not 0
  in_order,  ///< binary: a node lies between its children's subtrees
};

/// Trees on positions 0 .. p-1, and when each edge carries its first segment away from the root:
/// segment j follows `period` x j steps later. Read backwards it is a reduction.
struct TreeSchedule {
  struct Edge {
    Rank peer;      ///< the position at its other end
    Rank first;     ///< the step of its first segment
    int tree;       ///< which of the trees, each of which carries a part of the message
    bool to_child;  ///< away from the root
  };
  int trees = 1;
  Rank period = 1;
  Rank last = -1;                        ///< the latest first step; -1: no edge
  std::vector<std::vector<Edge>> edges;  ///< of each position

  /// The steps of a message in this many segments per tree.
  Rank steps(Rank segments) const { return last < 0 ? 0 : last + 1 + (segments - 1) * period; }
};

/// One tree whose root is position 0; for in_order, any. In each step a node sends to one child and
/// receives from its parent: child number i gets its first segment i + 1 steps after its parent.
/// Computed once for all nodes of a process that ask for the same.
std::shared_ptr<const TreeSchedule> tree_schedule(TreeShape shape, Rank radix, Rank p, Rank root);

/// Two trees, each of which carries one half of the message: no node has children in both, so both
/// ports are busy. The edges have two colours, for even and odd steps.
/// \param roots_differ  the roots are two nodes, as in an all-reduce: positions 0 and p - 1
///                      (p even) or 1; else position 0 is the root of both
///
/// Source  P. Sanders, J. Speck, J. L. Traeff, Two-Tree Algorithms for Full Bandwidth Broadcast,
///         Reduction and Scan, Parallel Computing 35(12), 2009; NCCL, src/graph/trees.cc.
std::shared_ptr<const TreeSchedule> double_tree_schedule(Rank p, bool roots_differ);

/// Broadcast of `data` away from the root; its segments are cut between elements.
void broadcast_on_trees(Node& node, const TreeSchedule& trees, const Positions& places,
                        Rank segments, Bytes element_bytes, Span data);
/// Reduction to the root, the broadcast in reverse. Data from a child at a lower position comes
/// first, so that trees whose subtrees are intervals of positions keep that order.
/// \param sum  memory for the partial result, and at the end for the result
void reduce_on_trees(Node& node, const TreeSchedule& trees, const Positions& places, Rank segments,
                     const Reduction& reduction, ConstSpan mine, Span sum);

/// Whether the trees may share links: then their load is counted.
enum class LinksOfTrees : std::uint8_t { shared, own };
/// For a broadcast, or in reverse for a reduction: start-ups, transmission, loads, combined blocks.
Prediction trees_cost(const Topology& topology, const TreeSchedule& trees, const Positions& places,
                      Rank segments, bool to_root, LinksOfTrees links = LinksOfTrees::shared);
/// The cost of one after the other.
Prediction both(Prediction first, const Prediction& second);

}  // namespace wormcube
