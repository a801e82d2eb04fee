// What a node is handed while it waits: waiters of its own to carry on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/reservation.hpp"

#include <atomic>

namespace wormcube {

/// A list that is open while its node waits.
///
/// Threads       open, take, close: the node. put: any thread.
/// Invariants    a closed inbox takes nothing, and is empty.
/// Memory order  put releases the waiter, take and close acquire it. open() releases nothing: what
///               the node did is ordered by what made others handle its waiters.
class Inbox {
 public:
  void open() noexcept { newest_.store(nullptr, std::memory_order_relaxed); }

  /// False: the node does not wait; the waiter is still the caller's.
  [[nodiscard]] bool put(Waiter& waiter) noexcept {
    Waiter* newest = newest_.load(std::memory_order_relaxed);
    do {
      if (newest == closed()) return false;
      waiter.next = newest;
    } while (!newest_.compare_exchange_weak(newest, &waiter, std::memory_order_release,
                                            std::memory_order_relaxed));
    return true;
  }

  /// All there are, the oldest first; null: none.
  [[nodiscard]] Waiter* take() noexcept {
    return in_order(newest_.exchange(nullptr, std::memory_order_acquire));
  }
  [[nodiscard]] Waiter* close() noexcept {
    Waiter* const newest = newest_.exchange(closed(), std::memory_order_acquire);
    return newest == closed() ? nullptr : in_order(newest);
  }

 private:
  static Waiter* in_order(Waiter* newest) noexcept {
    Waiter* oldest = nullptr;
    while (newest != nullptr) {
      Waiter* const older = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = older;
    }
    return oldest;
  }

  // An address that no waiter has.
  Waiter* closed() noexcept { return reinterpret_cast<Waiter*>(this); }

  std::atomic<Waiter*> newest_{closed()};
};

}  // namespace wormcube
