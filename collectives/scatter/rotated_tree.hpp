// The hypercube's tree in rotated copies: shared by scatter and gather with all links at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace wormcube {

/// Copy j of the tree, for one node. Nodes have places such that step t halves intervals of places:
/// bit d-1-t of a place is bit j+t (mod d) of its node.
class RotatedTree {
 public:
  RotatedTree(const Node& node, int j, Rank root)
      : d_(node.topology().dimensions()), j_(j), rank_(node.rank()), is_root_(rank_ == root) {
    mine_ = place(rank_);
    from_root_ = mine_ ^ place(root);
  }

  Rank node_at(Rank place) const {
    Rank label = 0;
    for (int t = 0; t < d_; ++t) label |= (place >> (d_ - 1 - t) & 1) << dimension(t);
    return label;
  }
  Rank partner(int t) const { return rank_ ^ 1 << dimension(t); }

  /// Step t transfers half of the 2^(d-t) places that a holder has.
  Rank half(int t) const { return 1 << (d_ - 1 - t); }
  bool gives(int t) const { return (from_root_ & (2 * half(t) - 1)) == 0; }
  bool takes(int t) const { return (from_root_ & (2 * half(t) - 1)) == half(t); }
  /// The first of the places transferred: those of the receiver's half.
  Rank first(int t) const {
    const Rank inside = gives(t) ? mine_ ^ half(t) : mine_;
    return inside / half(t) * half(t);
  }

  /// What this node holds: all places, or those it receives.
  bool is_root() const { return is_root_; }
  Rank held() const { return is_root_ ? 1 << d_ : from_root_ & -from_root_; }
  Rank first_held() const { return mine_ / held() * held(); }
  Rank mine() const { return mine_; }

 private:
  int dimension(int t) const { return (j_ + t) % d_; }
  Rank place(Rank label) const {
    Rank place = 0;
    for (int t = 0; t < d_; ++t) place |= (label >> dimension(t) & 1) << (d_ - 1 - t);
    return place;
  }

  int d_, j_;
  Rank rank_;
  bool is_root_;
  Rank mine_ = 0, from_root_ = 0;
};

/// Part j of the blocks that a node holds, by places. The root's lie in the order of ranks.
class HeldParts {
 public:
  HeldParts(Node& node, const RotatedTree& tree, Blocks all, Span own, int j)
      : tree_(tree), all_(all), own_(own), j_(j), d_(node.topology().dimensions()) {
    if (!tree.is_root() && tree.held() > 1) {
      memory_.emplace(node.memory(tree.held() * own_part().size(), Purpose::blocks));
    }
  }

  Span own_part() const { return part(own_, j_, d_); }
  /// The parts of this many places, as pieces; they are valid until the next call.
  std::span<const Span> pieces(Rank first, Rank count) {
    pieces_.clear();
    if (tree_.is_root()) {
      for (Rank place = first; place < first + count; ++place) {
        pieces_.push_back(part(all_[tree_.node_at(place)], j_, d_));
      }
    } else if (memory_) {
      const Bytes bytes = own_part().size();
      pieces_.push_back(memory_->subspan((first - tree_.first_held()) * bytes, count * bytes));
    } else {
      pieces_.push_back(own_part());
    }
    return pieces_;
  }

 private:
  const RotatedTree& tree_;
  Blocks all_;
  Span own_;
  int j_, d_;
  std::optional<Memory> memory_;
  std::vector<Span> pieces_;
};

inline Rank rotated_tree_parts(const Setting& setting) {
  return std::max(1, setting.topology.dimensions());
}

inline Prediction predict_rotated_trees(const Setting& setting) {
  const double p = setting.topology.nodes(), d = rotated_tree_parts(setting);
  return {.startups = setting.topology.dimensions(),
          .transmission_blocks = (p - 1) / d,
          .rearranged_blocks = 0,
          // The root's neighbours receive 1, 2, .., p/2 parts; a single one goes to its final
          // place.
          .working_blocks = std::max(0.0, p - 2) / d,
          .link_load = p > 1 ? 1 : 0,
          .link_blocks = (p - 1) / d};
}

/// A scatter or a gather along these trees.
inline Algorithm rotated_trees(Operation operation, void (*program)(Node&, const Call&)) {
  return {.operation = operation,
          .name = "hypercube-all-port",
          .summary = "d rotated trees on all links at once; hypercubes",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.7.2",
          .ports = Ports::all,
          .contention_free = true,
          .exactly_once = true,
          .neighbours_only = true,
          .needs = {needs::hypercube()},
          .instead = {"halving"},
          .predict = predict_rotated_trees,
          .program = program,
          .parts = rotated_tree_parts};
}

}  // namespace wormcube
