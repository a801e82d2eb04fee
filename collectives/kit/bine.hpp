// Bine trees: binomial trees along swing's paths, whose messages share no link.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"

#include <span>
#include <vector>

namespace wormcube {

/// One node's place in the tree of a root on a torus of sides 2^L. The tree's steps are swing's in
/// reverse: far nodes first. A node that has the data in a step gives some to its partner there,
/// which is its heir. The steps that lead from the root to a node are the bits of its path, the
/// highest first.
class BineTree {
 public:
  /// A dimension and a step of swing in it: one of all dimensions' steps, in turn.
  using Way = TorusCopy::Slot;

  BineTree(Node& node, Rank root);

  int steps() const { return static_cast<int>(ways_.size()); }
  /// The bit in which this node receives its data; steps() for the root, which has them before.
  int taken() const { return taken_; }
  /// The move to the partner in the step of a bit.
  Move move(int bit) const { return move(rank_, bit); }
  /// The nodes of this node's subtree, itself first: for an heir by bit b the entries 2^b to
  /// 2^(b+1) - 1 are the subtree, in that node's own order.
  std::vector<Rank> subtree() const;

 private:
  Move move(Rank r, int bit) const;
  int taken(Rank r) const;

  const Topology& topology_;
  Rank root_, rank_;
  std::span<const Way> ways_;
  int taken_;
};

/// Where a node has the blocks of its subtree, in the order of subtree(): at the root in `all`;
/// elsewhere its own in `own`, the others in memory, an heir's in one piece.
class BineHolding {
 public:
  BineHolding(Node& node, const BineTree& tree, Blocks all, Span own);
  /// What this node receives, or gives to its parent.
  std::vector<Span> all() const;
  /// The subtree of the heir by a bit.
  std::vector<Span> heir(int bit) const;

 private:
  Blocks all_;
  Span own_;
  std::vector<Rank> order_;  // the root's
  Memory memory_;            // the others'
};

namespace needs {
/// Rings of 2^L nodes.
Need rings_of_powers_of_two();
}  // namespace needs

/// A broadcast, a scatter, a gather or a reduction along such a tree.
Algorithm bine_tree(Operation operation, void (*program)(Node&, const Call&));

}  // namespace wormcube
