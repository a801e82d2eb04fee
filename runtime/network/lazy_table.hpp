// Objects created on first use, in a table of which most slots stay empty.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/atomics.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace wormcube {

/// Objects created on first use: a run may use few of the millions of links of a network.
/// An object, and the page of the table that it is in, exist from the first get() on.
///
/// Threads       any thread may call get and mark.
/// Invariants    pages and objects stay until the table is destroyed.
/// Memory order  the compare-exchange that puts a page or an object into its slot publishes it
///               (release); the load that finds it acquires. Marks are relaxed: each() is called
///               between runs and is ordered by whatever ended the run.
template <class T, class Atomics = HostAtomics>
class LazyTable {
  template <class Value>
  using Atomic = typename Atomics::template Atomic<Value>;

 public:
  /// Slots that are created together.
  static constexpr std::size_t page_slots = 256;

  explicit LazyTable(std::size_t count) : pages_(pages_of(count)) {}
  ~LazyTable() {
    for (auto& slot : pages_) {
      Page* const page = slot.load(std::memory_order_acquire);
      if (page == nullptr) continue;
      for (auto& entry : page->slots) delete entry.load(std::memory_order_acquire);
      delete page;
    }
  }
  LazyTable(const LazyTable&) = delete;
  LazyTable& operator=(const LazyTable&) = delete;

  /// The size in bytes of a table of `slots` slots before its first object.
  static constexpr std::size_t bytes_of(std::size_t count) {
    return pages_of(count) * sizeof(Atomic<Page*>);
  }

  /// The object, or null if there is none yet. Any thread.
  T* find(std::size_t index) {
    Entry* const entry =
        page(index / page_slots).slots[index % page_slots].load(std::memory_order_acquire);
    return entry != nullptr ? &entry->object : nullptr;
  }
  template <class... Arguments>
  T& get(std::size_t index, Arguments&&... arguments) {
    Atomic<Entry*>& slot = page(index / page_slots).slots[index % page_slots];
    Entry* entry = slot.load(std::memory_order_acquire);
    if (entry != nullptr) return entry->object;
    auto made = std::make_unique<Entry>(std::forward<Arguments>(arguments)...);
    if (!slot.compare_exchange_strong(entry, made.get(), std::memory_order_acq_rel))
      return entry->object;  // another thread was first
    return made.release()->object;
  }

  /// Sets a mark, never 0, on the objects that were created together with this one. A later mark
  /// replaces an earlier one.
  void mark(std::size_t index, std::uint64_t mark) {
    page(index / page_slots).mark.store(mark, std::memory_order_relaxed);
  }

  /// Calls f(object) for each object there is, ascending. Only between runs.
  template <class F>
  void each(F&& f) const {
    visit([](const Page&) { return true; }, f);
  }
  /// The same for those that have this mark.
  template <class F>
  void each_marked(std::uint64_t mark, F&& f) const {
    visit([&](const Page& page) { return page.mark.load(std::memory_order_relaxed) == mark; }, f);
  }

 private:
  static constexpr std::size_t pages_of(std::size_t count) {
    return (count + page_slots - 1) / page_slots;
  }
  // Aligned, because two threads use two objects that were created one after the other.
  struct alignas(64) Entry {
    template <class... Arguments>
    explicit Entry(Arguments&&... arguments) : object(std::forward<Arguments>(arguments)...) {}
    T object;
  };
  struct Page {
    std::array<Atomic<Entry*>, page_slots> slots;  // null from the start (C++20)
    Atomic<std::uint64_t> mark;
  };

  template <class Wanted, class F>
  void visit(Wanted&& wanted, F&& f) const {
    for (const auto& slot : pages_) {
      Page* const page = slot.load(std::memory_order_acquire);
      if (page == nullptr || !wanted(*page)) continue;
      for (const auto& entry : page->slots) {
        if (Entry* const made = entry.load(std::memory_order_acquire)) f(made->object);
      }
    }
  }

  Page& page(std::size_t number) {
    Page* found = pages_[number].load(std::memory_order_acquire);
    if (found != nullptr) return *found;
    auto made = std::make_unique<Page>();
    if (pages_[number].compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
      return *made.release();
    return *found;
  }

  std::vector<Atomic<Page*>> pages_;
};

}  // namespace wormcube
