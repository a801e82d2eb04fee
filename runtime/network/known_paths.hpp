// The paths that a node's messages took before.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/message.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace wormcube {

/// The paths that a node's messages took before: 64 short ones, by destination or by moves. To find
/// a path costs a fifth of a short message's time.
///
/// Threads  the node's.
class KnownPaths {
 public:
  /// Those of all nodes together stay in a core's cache, or near it.
  static constexpr Rank most_nodes = 64;

  bool find(Worm& worm, const Op& op) const {
    if (slots_ == nullptr) return false;
    const std::uint64_t key = key_of(op);
    const Slot& slot = slots_[index(key)];
    if (slot.key != key || key == 0) return false;
    worm.to = slot.to;
    worm.path.assign(slot.path.begin(), slot.path.begin() + slot.length);
    return true;
  }
  void keep(const Worm& worm, const Op& op) {
    const std::uint64_t key = key_of(op);
    if (key == 0 || worm.path.size() > most_entries) return;
    if (slots_ == nullptr) slots_ = std::make_unique<Slot[]>(most_paths);
    Slot& slot = slots_[index(key)];
    slot.key = key;
    slot.to = worm.to;
    slot.length = static_cast<std::uint32_t>(worm.path.size());
    std::ranges::copy(worm.path, slot.path.begin());
  }

 private:
  static constexpr std::size_t most_paths = 64, most_entries = 14;
  struct alignas(64) Slot {
    std::uint64_t key = 0;  // 0: none
    Rank to = 0;
    std::uint32_t length = 0;
    std::array<Reservation*, most_entries> path = {};
  };
  static_assert(sizeof(Slot) == 128);

  // Its lowest two bits are the number of moves; 0: no moves.
  static std::uint64_t key_of(const Op& op) {
    if (op.to() == Op::To::rank) return 4 * (static_cast<std::uint64_t>(op.peer()) + 1);
    if (op.moves().empty() || op.moves().size() > 3) return 0;
    std::uint64_t key = 0;
    for (const Move move : op.moves()) {
      if (move.dimension >= 16 || std::abs(move.hops) >= 1 << 15) return 0;
      key = key << 20U | static_cast<std::uint64_t>(move.dimension) << 16U |
            static_cast<std::uint16_t>(move.hops);
    }
    return key << 2U | op.moves().size();
  }
  static std::size_t index(std::uint64_t key) {
    return key % 4 == 0 ? key / 4 % most_paths : key * 0x9e3779b97f4a7c15U >> 58U;
  }

  std::unique_ptr<Slot[]> slots_;
};

}  // namespace wormcube
