// The queue of pending events: a heap of ticks, each with a list of events.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/machine_model.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

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

  bool empty() const { return first_ == none && heap_.empty(); }
  Ticks next() const { return first_ != none ? now_ : heap_.front().time; }

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
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / width;
      if (heap_[parent].time <= list.time) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = list;
  }

  List pop_list() {
    const List first = heap_.front();
    const List last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return first;
    std::size_t hole = 0;
    while (true) {
      const std::size_t begin = hole * width + 1;
      if (begin >= size) break;
      const std::size_t end = begin + width < size ? begin + width : size;
      std::size_t least = begin;
      for (std::size_t child = begin + 1; child < end; ++child) {
        if (heap_[child].time < heap_[least].time) least = child;
      }
      if (heap_[least].time >= last.time) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = last;
    return first;
  }

  std::vector<Entry> entries_;  // of all lists; those that are free are one, too
  std::int32_t free_ = none, first_ = none;
  Ticks now_ = 0;
  std::vector<List> heap_;
  std::array<End, known> ends_;
};

}  // namespace wormcube
