// Which channels follow each other in the routes of a schedule.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace wormcube {

/// Pairs of channels that follow each other in some route: a hash set, open addressing, at most
/// half full. It is queried once per hop of every message, and almost always has the pair already.
class Dependencies {
 public:
  using Pair = std::pair<Channel, Channel>;

  void add(std::span<const Channel> route) {
    for (std::size_t i = 1; i < route.size(); ++i) add(Pair(route[i - 1], route[i]));
  }

  /// The channels along a cycle; empty if there is none.
  std::vector<Channel> cycle() const {
    // Renumbered, because a network has far more channels than a schedule uses.
    std::vector<Pair> pairs;
    std::vector<Channel> used;
    for (const Pair& pair : slots_) {
      if (pair == free) continue;
      pairs.push_back(pair);
      used.insert(used.end(), {pair.first, pair.second});
    }
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    const auto number = [&](Channel channel) {
      return std::ranges::lower_bound(used, channel) - used.begin();
    };
    std::ranges::sort(pairs);  // the cycle reported must not depend on the hash
    for (auto& [held, wanted] : pairs) held = number(held), wanted = number(wanted);
    auto cycle = find_cycle(std::ssize(used), pairs).value_or(std::vector<Channel>());
    for (Channel& channel : cycle) channel = used[static_cast<std::size_t>(channel)];
    return cycle;
  }

 private:
  static constexpr Pair free{-1, -1};

  void add(Pair pair) {
    Pair& slot = slots_[find(pair)];
    if (slot == pair) return;
    slot = pair;
    if (2 * ++size_ <= slots_.size()) return;
    const std::vector<Pair> old = std::exchange(slots_, std::vector<Pair>(2 * slots_.size(), free));
    --bits_free_;
    for (const Pair& kept : old) {
      if (kept != free) slots_[find(kept)] = kept;
    }
  }
  /// The slot that holds the pair, or the free one where it belongs.
  std::size_t find(Pair pair) const {
    const auto key = static_cast<std::uint64_t>(pair.first) * 0xD6E8FEB86659FD93U +
                     static_cast<std::uint64_t>(pair.second);
    std::size_t at = key * 0x9E3779B97F4A7C15U >> bits_free_;
    while (slots_[at] != pair && slots_[at] != free) at = at + 1 == slots_.size() ? 0 : at + 1;
    return at;
  }

  int bits_free_ = 64 - 10;
  std::vector<Pair> slots_ = std::vector<Pair>(std::size_t{1} << 10, free);
  std::size_t size_ = 0;
};

}  // namespace wormcube
