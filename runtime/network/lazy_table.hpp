// Objects made when first asked for, in a table of which most slots stay empty.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace wormcube {

/// Objects made when first asked for: of the millions of links of a network a run may use few.
/// An object, and the page of the table that it is in, exist from the first get() on.
///
/// Threads       any thread may call get.
/// Invariants    made_ heads a list of all objects there are; it only grows. Pages and objects stay
///               until the table goes.
/// Memory order  the compare-exchange that puts a page or an object into its slot publishes it
///               (release); the load that finds it acquires. each() is called between runs and is
///               ordered by whatever ended the run.
template <class T>
class LazyTable {
 public:
  /// Slots that are made together.
  static constexpr std::size_t page_slots = 256;

  explicit LazyTable(std::size_t count) : pages_((count + page_slots - 1) / page_slots) {}
  ~LazyTable() {
    for (Entry* entry = made_.load(std::memory_order_acquire); entry != nullptr;) {
      delete std::exchange(entry, entry->next);
    }
    for (auto& page : pages_) delete page.load(std::memory_order_acquire);
  }
  LazyTable(const LazyTable&) = delete;
  LazyTable& operator=(const LazyTable&) = delete;

  /// What a table of so many slots takes before its first object.
  static constexpr std::size_t bytes_of(std::size_t count) {
    return (count + page_slots - 1) / page_slots * sizeof(std::atomic<Page*>);
  }

  template <class... Arguments>
  T& get(std::size_t index, Arguments&&... arguments) {
    std::atomic<Entry*>& slot = page(index / page_slots)[index % page_slots];
    Entry* entry = slot.load(std::memory_order_acquire);
    if (entry != nullptr) return entry->object;
    auto made = std::make_unique<Entry>(std::forward<Arguments>(arguments)...);
    if (!slot.compare_exchange_strong(entry, made.get(), std::memory_order_acq_rel))
      return entry->object;  // another thread was first
    Entry* const fresh = made.release();
    fresh->next = made_.load(std::memory_order_relaxed);
    while (!made_.compare_exchange_weak(fresh->next, fresh, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
    return fresh->object;
  }

  /// Calls f(object) for each object there is, the newest first. Only between runs.
  template <class F>
  void each(F&& f) const {
    for (Entry* entry = made_.load(std::memory_order_acquire); entry != nullptr;
         entry = entry->next) {
      f(entry->object);
    }
  }

 private:
  // Aligned: two threads use two objects that were made one after the other.
  struct alignas(64) Entry {
    template <class... Arguments>
    explicit Entry(Arguments&&... arguments) : object(std::forward<Arguments>(arguments)...) {}
    T object;
    Entry* next = nullptr;
  };
  using Page = std::array<std::atomic<Entry*>, page_slots>;

  Page& page(std::size_t number) {
    Page* found = pages_[number].load(std::memory_order_acquire);
    if (found != nullptr) return *found;
    auto made = std::make_unique<Page>();  // atomics are null from birth (C++20)
    if (pages_[number].compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
      return *made.release();
    return *found;
  }

  std::vector<std::atomic<Page*>> pages_;
  std::atomic<Entry*> made_{nullptr};
};

}  // namespace wormcube
