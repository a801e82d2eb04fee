// What the programs of a proof have posted, step by step, until it is delivered.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace wormcube {

/// A send or a receive. It refers to the program's list of pieces, unless there is one piece.
struct PostedOp {
  PostedOp(Rank node, Rank other, const Op& op)
      : rank(node), peer(other), tag(op.tag()), is_send(op.is_send()) {
    if (op.pieces().size() == 1) {
      piece = op.pieces().front();
    } else {
      several = op.pieces();
    }
  }
  std::span<const Span> pieces() const { return several.empty() ? std::span(&piece, 1) : several; }
  Bytes bytes() const {
    Bytes sum = 0;
    for (const Span data : pieces()) sum += data.size();
    return sum;
  }

  Rank rank, peer;
  Tag tag;
  bool is_send;
  Span piece;
  std::span<const Span> several;
};

/// All that was posted in one step.
struct PostedStep {
  std::vector<PostedOp> ops;
  std::vector<Rank> nodes;
};

/// The steps in which something is posted, by number. Their memory is used again.
class PostedSteps {
 public:
  using Entry = std::map<std::size_t, PostedStep>::node_type;

  bool empty() const { return steps_.empty(); }
  /// The number of the first step.
  std::size_t first() const { return steps_.begin()->first; }
  Entry take_first() { return steps_.extract(steps_.begin()); }
  /// A step that was taken, when it is delivered.
  void give_back(Entry step) {
    step.mapped().ops.clear(), step.mapped().nodes.clear();
    spare_.push_back(std::move(step));
  }

  PostedStep& operator[](std::size_t number) {
    const auto place = steps_.lower_bound(number);
    if (place != steps_.end() && place->first == number) return place->second;
    if (spare_.empty()) return steps_.emplace_hint(place, number, PostedStep())->second;
    Entry step = std::move(spare_.back());
    spare_.pop_back();
    step.key() = number;
    return steps_.insert(place, std::move(step))->second;
  }

 private:
  std::map<std::size_t, PostedStep> steps_;
  std::vector<Entry> spare_;
};

}  // namespace wormcube
