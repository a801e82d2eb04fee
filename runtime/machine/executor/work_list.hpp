// A worker's list of items from others, and how it announces that it is idle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/executor/futex.hpp"
#include "wormcube/runtime/network/atomics.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace wormcube {

/// How many are still busy: workers that are not idle, and any other thread that wakes workers
/// meanwhile.
///
/// Threads       any.
/// Memory order  acq_rel: whoever makes it 0 has seen what all others did before they ended.
template <class Atomics = HostAtomics>
class BasicBusy {
 public:
  void begin() noexcept { count_.fetch_add(1, std::memory_order_acq_rel); }
  /// True if nobody is busy now.
  [[nodiscard]] bool end() noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  typename Atomics::template Atomic<std::int64_t> count_{0};
};

using Busy = BasicBusy<>;

/// One worker's list of items that others append; an item has `next`.
///
/// Threads       push, wake: any thread. take, rest, rouse, is_idle, sleep: the worker.
/// Invariants    newest_ is null: the worker is busy, nothing is here; idle(): it is idle, nothing
///               is here; dozing(): it sleeps, nothing is here, and it counts as busy; else a
///               chain, the newest first, and the worker is busy. A busy worker is counted in
///               `busy` once: from idle() to a chain by the pusher, before the push; to null by
///               itself. It uncounts itself after it has rested. So if the pusher is busy, or is a
///               thread that `busy` does not count and that lets the worker uncount itself again
///               later, `busy` is 0 only when all are idle and nobody pushes.
/// Memory order  push releases the item, take acquires it. rest() releases nothing: what the worker
///               did is ordered by `busy`. To sleep, the worker sets asleep_ and then looks at
///               newest_; a pusher changes newest_ and then asleep_: all four are sequentially
///               consistent, so at least one of the two sees the other.
template <class Item, class Atomics = HostAtomics>
class WorkList {
 public:
  explicit WorkList(BasicBusy<Atomics>& busy) : busy_(busy) {}

  /// True if the worker was idle, or dozed: the caller must wake it.
  [[nodiscard]] bool push(Item& item) noexcept {
    Item* seen = newest_.load(std::memory_order_relaxed);
    for (;;) {
      if (seen == dozing()) {
        item.next = nullptr;
        if (newest_.compare_exchange_strong(seen, &item, std::memory_order_seq_cst,
                                            std::memory_order_relaxed)) {
          return true;
        }
        continue;
      }
      if (seen != idle()) {
        item.next = seen;
        if (newest_.compare_exchange_weak(seen, &item, std::memory_order_seq_cst,
                                          std::memory_order_relaxed)) {
          return false;
        }
        continue;
      }
      item.next = nullptr;
      busy_.begin();
      if (newest_.compare_exchange_strong(seen, &item, std::memory_order_seq_cst,
                                          std::memory_order_relaxed)) {
        return true;
      }
      // Another thread was first. If nobody is busy now, the worker is idle again, and will be
      // woken.
      static_cast<void>(busy_.end());
    }
  }

  /// For the pusher, if push() says so.
  void wake() noexcept {
    asleep_.store(0, std::memory_order_seq_cst);
    wake_sleepers(asleep_);
  }

  /// All there are, the oldest first; null: none. Not while it is idle.
  [[nodiscard]] Item* take() noexcept {
    if (newest_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    Item* oldest = nullptr;
    for (Item* item = newest_.exchange(nullptr, std::memory_order_acquire); item != nullptr;) {
      Item* const older = item->next;
      item->next = oldest;
      oldest = item;
      item = older;
    }
    return oldest;
  }
  bool has_items() const noexcept { return newest_.load(std::memory_order_relaxed) != nullptr; }

  /// Becomes idle; then the worker uncounts itself. False: the list is not empty.
  [[nodiscard]] bool rest() noexcept {
    Item* none = nullptr;
    return newest_.compare_exchange_strong(none, idle(), std::memory_order_seq_cst,
                                           std::memory_order_relaxed);
  }
  bool is_idle() noexcept { return newest_.load(std::memory_order_seq_cst) == idle(); }
  /// Becomes busy again by itself. False: another thread has pushed meanwhile, so it is busy
  /// anyway.
  bool rouse() noexcept {
    busy_.begin();
    Item* seen = idle();
    if (newest_.compare_exchange_strong(seen, nullptr, std::memory_order_seq_cst,
                                        std::memory_order_relaxed)) {
      return true;
    }
    static_cast<void>(busy_.end());  // counted by the pusher
    return false;
  }
  /// Waits until it is not idle any more.
  void sleep() noexcept {
    for (;;) {
      asleep_.store(1, std::memory_order_seq_cst);
      if (!is_idle()) return;
      sleep_while_equal(asleep_, 1);
    }
  }
  /// Sleeps while the list is empty, at most until the deadline. It counts as busy meanwhile.
  void doze(std::chrono::steady_clock::time_point until) noexcept {
    Item* seen = nullptr;
    if (!newest_.compare_exchange_strong(seen, dozing(), std::memory_order_relaxed,
                                         std::memory_order_relaxed)) {
      return;
    }
    do {
      asleep_.store(1, std::memory_order_seq_cst);
      if (newest_.load(std::memory_order_seq_cst) != dozing()) return;
    } while (sleep_while_equal(asleep_, 1, until));
    seen = dozing();
    newest_.compare_exchange_strong(seen, nullptr, std::memory_order_relaxed,
                                    std::memory_order_relaxed);
  }

 private:
  // Addresses that no item has.
  Item* idle() noexcept { return reinterpret_cast<Item*>(this); }
  Item* dozing() noexcept { return reinterpret_cast<Item*>(&asleep_); }

  BasicBusy<Atomics>& busy_;
  typename Atomics::template Atomic<Item*> newest_{nullptr};
  typename Atomics::template Atomic<std::uint32_t> asleep_{0};
};

}  // namespace wormcube
