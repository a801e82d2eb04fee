// The blocks that a node holds in a gather or scatter.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

#include <optional>

namespace wormcube {

/// Copies this node's block to its place in an all-gather's output, unless it lies there already.
inline void keep_own(Node& node, const Call& call) {
  node.local([&] { copy(call.input[0], call.output[node.rank()]); });
}

/// The blocks of nodes first .. last-1 one behind another: at the root its input or output, for a
/// single block the node's own; anything else is private memory.
class Holding {
 public:
  /// \param all  the root's p blocks; not used elsewhere
  /// \param own  this node's block
  /// Throws UsageError, before any message, at a root whose blocks differ in size if the call does
  /// not give all nodes' sizes.
  Holding(Node& node, const Call& call, ConstBlocks all, Span own, Rank first, Rank last)
      : sizes_(call.sizes), each_(own.size()), first_(first), own_(own) {
    if (node.rank() == call.arguments.root) {
      if (sizes_.empty() && all.uneven()) {
        throw UsageError("blocks of different sizes; give all sizes on every node");
      }
      first_ = 0;
      data_ = only_read(all.all());
    } else if (last - first > 1) {
      memory_.emplace(node.memory(bytes(first, last), Purpose::blocks));
      data_ = *memory_;
    } else {
      data_ = own;
    }
  }

  Bytes bytes(Rank first, Rank last) const {
    WORMCUBE_ASSERT(first <= last);
    if (sizes_.empty()) return each_ * static_cast<Bytes>(last - first);
    Bytes sum = 0;
    for (Rank rank = first; rank < last; ++rank) sum += sizes_[rank];
    return sum;
  }
  Span range(Rank first, Rank last) const {
    return data_.subspan(bytes(first_, first), bytes(first, last));
  }
  /// Copies this node's own block in or out, unless it is held in its place.
  void put_own(Node& node) const {
    node.local([&] { copy(own_, range(node.rank(), node.rank() + 1)); });
  }
  void get_own(Node& node) const {
    node.local([&] { copy(range(node.rank(), node.rank() + 1), own_); });
  }

 private:
  std::span<const Bytes> sizes_;
  Bytes each_;
  Rank first_;
  Span own_;
  std::optional<Memory> memory_;
  Span data_;
};

}  // namespace wormcube
