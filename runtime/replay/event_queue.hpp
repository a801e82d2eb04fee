// The queue of pending events: a heap of ticks, each with a list of events.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/machine_model.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/align/aligned_allocator.hpp>

namespace wormcube {

/// Events of one tick come in an unspecified order, which must not matter
/// (docs/explanation/replay.md: the phases of a tick).
///
/// In a regular schedule, nodes do the same at the same tick. So events are lists, one for a tick.
/// The ends of the lists are known for a few recent ticks, and a second list for the same tick is
/// harmless.
class EventQueue {
 public:
  struct Event {
    Ticks time;
    std::uint32_t kind_and_stage;
    std::int32_t subject;
  };

  bool empty() const { return first_ == none && heap_.size() == root; }
  Ticks next() const { return first_ != none ? now_ : heap_[root].time; }

  void push(const Event& event) {
    const std::int32_t entry = make({event.kind_and_stage, event.subject, none});
    End& end = ends_[place(event.time)];
    if (end.last != none && end.time == event.time) {
      entries_[static_cast<std::size_t>(end.last)].next = entry;
    } else {
      push_list({event.time, entry});
      end.time = event.time;
    }
    end.last = entry;
  }

  Event pop() {
    if (first_ == none) {
      const List list = pop_list();
      now_ = list.time, first_ = list.first;
      // From here on the list is being consumed: later events go to another one.
      End& end = ends_[place(now_)];
      if (end.time == now_) end.last = none;
    }
    const std::int32_t entry = first_;
    const Entry& taken = entries_[static_cast<std::size_t>(entry)];
    const Event event{now_, taken.kind_and_stage, taken.subject};
    first_ = taken.next;
    entries_[static_cast<std::size_t>(entry)].next = free_;
    free_ = entry;
    return event;
  }

 private:
  static constexpr std::int32_t none = -1;
  static constexpr std::size_t width = 4;  // shallower than two, and a node's children share a line
  static constexpr std::size_t root = width - 1, line = 64;  // because of where they begin
  static constexpr std::size_t known = 64;

  struct Entry {
    std::uint32_t kind_and_stage;
    std::int32_t subject, next;
  };
  struct List {
    Ticks time;
    std::int32_t first;
  };
  struct End {
    Ticks time = -1;
    std::int32_t last = none;
  };

  static std::size_t place(Ticks time) {
    return (static_cast<std::uint64_t>(time) * 0x9E3779B97F4A7C15U) >> 58U;
  }

  std::int32_t make(const Entry& entry) {
    if (free_ == none) {
      entries_.push_back(entry);
      return static_cast<std::int32_t>(entries_.size() - 1);
    }
    const std::int32_t at = free_;
    free_ = entries_[static_cast<std::size_t>(at)].next;
    entries_[static_cast<std::size_t>(at)] = entry;
    return at;
  }

  void push_list(const List& list) {
    std::size_t hole = heap_.size();
    heap_.push_back(list);
    while (hole > root) {
      const std::size_t parent = hole / width + root - 1;
      if (heap_[parent].time <= list.time) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = list;
  }

  List pop_list() {
    const List first = heap_[root];
    const List last = heap_.back();
    heap_.pop_back();
    const std::size_t end = heap_.size();
    if (end == root) return first;
    std::size_t hole = root;
    while (true) {
      const std::size_t begin = (hole - root + 1) * width;
      if (begin >= end) break;
      const std::size_t least = least_of(begin, std::min(begin + width, end));
      if (heap_[least].time >= last.time) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = last;
    return first;
  }

  /// The first of the least children. Nothing predicts which one that is, so there is no branch.
  std::size_t least_of(std::size_t begin, std::size_t end) const {
    const List* const child = &heap_[begin];
    if (begin + width == end) {
      const auto a = static_cast<std::size_t>(child[1].time < child[0].time);
      const auto b = 2 + static_cast<std::size_t>(child[3].time < child[2].time);
      return begin + a + (b - a) * static_cast<std::size_t>(child[b].time < child[a].time);
    }
    std::size_t least = begin;
    for (std::size_t at = begin + 1; at < end; ++at) {
      if (heap_[at].time < heap_[least].time) least = at;
    }
    return least;
  }

  std::vector<Entry> entries_;  // of all lists; those that are free are one, too
  std::int32_t free_ = none, first_ = none;
  Ticks now_ = 0;
  using Heap = std::vector<List, boost::alignment::aligned_allocator<List, line>>;
  Heap heap_ = Heap(root);  // from `root` on
  std::array<End, known> ends_;
};

}  // namespace wormcube
