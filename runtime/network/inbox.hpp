// What others give a node while it waits: waiters of its own to carry on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/atomics.hpp"
#include "wormcube/runtime/network/reservation.hpp"

#include <atomic>

namespace wormcube {

/// A list that is open while its node waits; an item has `next`.
///
/// Threads       open, take, close: the node. put: any thread.
/// Invariants    a closed inbox takes nothing, and is empty.
/// Memory order  put releases the waiter, take and close acquire it. open() releases nothing: the
///               event that made others handle its waiters orders what the node did.
template <class Item, class Atomics = HostAtomics>
class BasicInbox {
 public:
  /// Once, before it is used: all calls come from one thread.
  void use_one_thread() noexcept { one_thread_ = true; }

  void open() noexcept { newest_.store(nullptr, std::memory_order_relaxed); }

  /// False: the node does not wait; the waiter is still the caller's.
  [[nodiscard]] bool put(Item& waiter) noexcept {
    return change([&](auto&& newest) {
      Item* seen = newest.load(std::memory_order_relaxed);
      do {
        if (seen == closed()) return false;
        waiter.next = seen;
      } while (!newest.compare_exchange_weak(seen, &waiter, std::memory_order_release,
                                             std::memory_order_relaxed));
      return true;
    });
  }

  /// All there are, the oldest first; null: none.
  [[nodiscard]] Item* take() noexcept {
    return in_order(
        change([](auto&& newest) { return newest.exchange(nullptr, std::memory_order_acquire); }));
  }
  [[nodiscard]] Item* close() noexcept {
    Item* const newest =
        change([&](auto&& word) { return word.exchange(closed(), std::memory_order_acquire); });
    return newest == closed() ? nullptr : in_order(newest);
  }

 private:
  static Item* in_order(Item* newest) noexcept {
    Item* oldest = nullptr;
    while (newest != nullptr) {
      Item* const older = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = older;
    }
    return oldest;
  }

  // An address that no waiter has.
  Item* closed() noexcept { return reinterpret_cast<Item*>(this); }

  template <class F>
  auto change(F&& f) noexcept {
    return one_thread_ ? f(OneThread::word(newest_)) : f(SeveralThreads::word(newest_));
  }

  typename Atomics::template Atomic<Item*> newest_{closed()};
  bool one_thread_ = false;
};

using Inbox = BasicInbox<Waiter>;

}  // namespace wormcube
