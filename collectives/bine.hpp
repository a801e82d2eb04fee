// Bine trees: binomial trees along swing's ways, whose messages share no link.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/needs.hpp"

#include <optional>
#include <vector>

namespace wormcube {

/// The tree of a root on a torus of sides 2^L, seen from one node. Its steps are swing's, backwards:
/// far nodes first. Whoever has the data in a step gives some to its partner there.
class BineTree {
 public:
  /// Of a step of the tree; the last dimension's steps are bits as all others'.
  struct Way {
    int dimension, step;
  };

  BineTree(const Topology& topology, Rank root);

  int steps() const { return static_cast<int>(plan_.size()); }
  /// The steps on the way from the root to a node, as bits; bit i is taken steps() - 1 - i-th.
  unsigned way(Rank r) const;
  /// The bit in which a node gets what it has; steps() of the root, which has it before.
  int taken(Rank r) const;
  /// The move to the partner in the step of a bit.
  Move move(Rank r, int bit) const;
  /// Blocks that go to node q: of all whose way begins as q's.
  std::vector<Rank> subtree(Rank q) const;

 private:
  Topology topology_;
  Rank root_;
  std::vector<Way> plan_;
};

/// Where a node has the blocks of its subtree: at the root in `all`; elsewhere its own in `own`, the
/// others in memory.
class BineHolding {
 public:
  BineHolding(Node& node, const BineTree& tree, Blocks all, Span own, bool is_root);
  Span operator[](Rank block) const;
  /// Those of a subtree, as pieces.
  std::vector<Span> pieces(const std::vector<Rank>& blocks) const;

 private:
  Blocks all_;
  Span own_;
  Rank rank_;
  bool is_root_;
  std::vector<Rank> held_;  // ascending, without its own
  std::optional<Memory> memory_;
};

namespace needs {
/// Rings of 2^L nodes.
Need rings_of_powers_of_two();
}  // namespace needs

}  // namespace wormcube
