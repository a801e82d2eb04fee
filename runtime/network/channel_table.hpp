// The virtual channels of a network, by number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/host/huge_pages.hpp"
#include "wormcube/runtime/network/channel.hpp"
#include "wormcube/runtime/network/lazy_table.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wormcube {

/// All channels of a network. If nodes have few links each, they lie in one array: a channel's
/// address follows from its number, and can be prefetched. Otherwise (a complete graph of 100 000
/// nodes has 10^10 links) each is created on first use.
///
/// Threads       any thread may call get and mark.
/// Memory order  as LazyTable; the array needs no publishing: it exists before all threads.
///               threads.
class ChannelTable {
 public:
  ChannelTable(Channel channels, Rank nodes)
      : array_(is_array(channels, nodes) ? static_cast<std::size_t>(channels) : 0),
        marks_(array_.size() / together + 1),
        made_(array_.empty() ? static_cast<std::size_t>(channels) : 0) {
    for (std::size_t i = 0; i < array_.size(); ++i) array_[i].set_id(static_cast<Channel>(i));
  }

  VirtualChannel& get(Channel channel) {
    const auto index = static_cast<std::size_t>(channel);
    return array_.empty() ? made_.get(index, channel) : array_[index];
  }
  /// Sets a mark, never 0, on this channel and those nearby. A later mark replaces an earlier one.
  void mark(Channel channel, std::uint64_t mark) {
    const auto index = static_cast<std::size_t>(channel);
    if (array_.empty()) return made_.mark(index, mark);
    marks_[index / together].store(mark, std::memory_order_relaxed);  // read between runs
  }
  /// Calls f(channel) for all that exist, ascending. Only between runs.
  template <class F>
  void each(F&& f) {
    std::ranges::for_each(array_, f);
    made_.each(f);
  }
  /// The same for those that have this mark.
  template <class F>
  void each_marked(std::uint64_t mark, F&& f) const {
    for (std::size_t i = 0; i < array_.size(); i += together) {
      if (marks_[i / together].load(std::memory_order_relaxed) != mark) continue;
      const std::size_t end = std::min(i + together, array_.size());
      for (std::size_t j = i; j < end; ++j) f(array_[j]);
    }
    made_.each_marked(mark, f);
  }

  /// Its size in bytes before the first message.
  static std::size_t bytes_of(Channel channels, Rank nodes) {
    const auto count = static_cast<std::size_t>(channels);
    return is_array(channels, nodes) ? count * sizeof(VirtualChannel)
                                     : LazyTable<VirtualChannel>::bytes_of(count);
  }

 private:
  static constexpr Channel most_of_a_node = 32;  // 2 KiB
  static constexpr std::size_t together = 256;
  static bool is_array(Channel channels, Rank nodes) {
    return channels <= most_of_a_node * static_cast<Channel>(nodes);
  }

  std::vector<VirtualChannel, HugePages<VirtualChannel>> array_;
  std::vector<std::atomic<std::uint64_t>> marks_;
  LazyTable<VirtualChannel> made_;
};

}  // namespace wormcube
