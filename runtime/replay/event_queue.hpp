// The queue of what is due: a heap by tick.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/machine_model.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace wormcube {

/// Events of one tick come in any order: whoever takes them must not mind (docs/replay.md: the
/// phases of a tick).
class EventQueue {
 public:
  struct Event {
    Ticks time;
    std::uint32_t kind_and_stage;
    std::int32_t subject;
  };

  bool empty() const { return heap_.empty(); }
  Ticks next() const { return heap_.front().time; }

  void push(const Event& event) {
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / width;
      if (heap_[parent].time <= event.time) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }

  Event pop() {
    const Event first = heap_.front();
    const Event last = heap_.back();
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

 private:
  static constexpr std::size_t width = 4;  // shallower than two, and a node's children share a line
  std::vector<Event> heap_;
};

}  // namespace wormcube
