// The partial result of one node in a reduction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/collectives/core/reduction.hpp"

namespace wormcube {

/// What a node has combined so far, over neighbouring ranks. At first a value that is not its own
/// (the call's input, say); from the first combination on it lies in `place`, which may be that
/// value's memory.
class Partial {
 public:
  Partial(Node& node, const Reduction& reduction, ConstSpan value, Span place)
      : node_(&node), reduction_(&reduction), value_(value), place_(place) {}

  ConstSpan value() const { return value_; }
  /// Combines with a result of lower ranks, or of higher ones.
  void after(ConstSpan lower) { become(lower, value_); }
  void before(ConstSpan higher) { become(value_, higher); }
  void join(ConstSpan other, bool is_lower) { is_lower ? after(other) : before(other); }
  /// Ensures that the value lies in `place`.
  void settle() {
    node_->local([&] { copy(value_, place_); });
    value_ = place_;
  }

 private:
  void become(ConstSpan left, ConstSpan right) {
    combine(*node_, *reduction_, left, right, place_);
    value_ = place_;
  }

  Node* node_;
  const Reduction* reduction_;
  ConstSpan value_;
  Span place_;
};

}  // namespace wormcube
