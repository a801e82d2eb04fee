// What a node does between its steps, in bytes; a program's gaps are nearly all empty.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/op.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

namespace wormcube {

/// Gap t is before step t, and the last gap after the last step. Only gaps with bytes are stored.
class GapBytes {
 public:
  struct Gap {
    std::size_t gap;
    Bytes bytes;
    friend bool operator==(const Gap&, const Gap&) = default;
  };

  GapBytes() = default;
  /// The bytes of all gaps from the first on.
  GapBytes(std::initializer_list<Bytes> of_gaps) {
    for (std::size_t gap = 0; const Bytes bytes : of_gaps) add(gap++, bytes);
  }

  Bytes operator[](std::size_t gap) const {
    const auto found = std::ranges::lower_bound(gaps_, gap, {}, &Gap::gap);
    return found != gaps_.end() && found->gap == gap ? found->bytes : 0;
  }
  void set(std::size_t gap, Bytes bytes) {
    const auto at = std::ranges::lower_bound(gaps_, gap, {}, &Gap::gap);
    if (at == gaps_.end() || at->gap != gap) {
      add(gap, bytes);
    } else if (bytes == 0) {
      gaps_.erase(at);
    } else {
      at->bytes = bytes;
    }
  }
  /// Constant time in ascending order.
  void add(std::size_t gap, Bytes bytes) {
    if (bytes == 0) return;
    const bool is_last = gaps_.empty() || gaps_.back().gap < gap;
    const auto at = is_last ? gaps_.end() : std::ranges::lower_bound(gaps_, gap, {}, &Gap::gap);
    if (at != gaps_.end() && at->gap == gap) {
      at->bytes += bytes;
    } else {
      gaps_.insert(at, {gap, bytes});
    }
  }
  /// No bytes in any gap.
  void clear() { gaps_.clear(); }
  /// Those with bytes, ascending.
  std::span<const Gap> filled() const { return gaps_; }

  friend bool operator==(const GapBytes&, const GapBytes&) = default;

 private:
  std::vector<Gap> gaps_;
};

}  // namespace wormcube
