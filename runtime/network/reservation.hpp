// Ownership of one resource of the network, first come, first served, without a lock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/atomics.hpp"

#include <atomic>
#include <cstdint>

namespace wormcube {

/// What can wait for a reservation: a worm, or a receive or query on its way into a tag table. It
/// waits for one thing at a time.
struct Waiter {
  enum class Kind : std::uint8_t { worm, receive, query };
  explicit Waiter(Kind waiter_kind) : kind(waiter_kind) {}
  Waiter* next = nullptr;
  Kind kind;
};

/// A port, a virtual channel or a node's tag table: held by one waiter, waited for by others.
/// Nobody blocks in it: a thread that cannot have it leaves its waiter behind, and the thread that
/// releases it continues with the next waiter.
///
/// Threads       any thread may acquire; only the thread that acts for the holder may release. As
///               OneThread: one thread does both, of all that use it.
/// Invariants    state_ is null: free; this: held, nobody new waits; else held, and the newest of a
///               chain of waiters in reverse order of arrival. queue_ holds the waiters that came
///               before those, in order of arrival; only the holder touches it. So waiters are
///               served in the order in which their compare-exchange succeeded.
/// Memory order  a successful acquire (acquire) reads what the last release (release) published:
///               the holder's writes to the resource. A waiter's push (release) publishes the
///               waiter; the exchange in release() (acquire) reads it. Pushes are
///               read-modify-writes, so each waiter of the chain heads a release sequence that the
///               exchange reads from. A hand-over needs no store: the releasing thread itself goes
///               on for the next holder.
///
/// An item has `next`. The technique is that of L. Baker's async_mutex (cppcoro, 2017).
template <class Item, class Atomics = HostAtomics>
class BasicReservation {
 public:
  BasicReservation() = default;
  BasicReservation(const BasicReservation&) = delete;
  BasicReservation& operator=(const BasicReservation&) = delete;

  /// True: the waiter holds the resource now. False: it waits, and another thread may already carry
  /// it on; do not touch it.
  template <class Threads = SeveralThreads>
  [[nodiscard]] bool acquire(Item& waiter) noexcept {
    auto&& state = Threads::word(state_);
    Item* seen = state.load(std::memory_order_relaxed);  // a guess; the compare-exchange decides
    for (;;) {
      if (seen == nullptr) {
        if (state.compare_exchange_weak(seen, held(), std::memory_order_acquire,
                                        std::memory_order_relaxed))
          return true;
      } else {
        waiter.next = seen == held() ? nullptr : seen;
        if (state.compare_exchange_weak(seen, &waiter, std::memory_order_release,
                                        std::memory_order_relaxed))
          return false;
      }
    }
  }

  /// Whether nobody holds it. For the one thread that uses it (OneThread).
  bool is_free() const noexcept { return state_.load(std::memory_order_relaxed) == nullptr; }

  /// Gives the resource to the next waiter, which the caller must now carry on, or frees it and
  /// returns null.
  template <class Threads = SeveralThreads>
  [[nodiscard]] Item* release() noexcept {
    auto&& state = Threads::word(state_);
    if (queue_ == nullptr) {
      Item* seen = held();
      if (state.compare_exchange_strong(seen, nullptr, std::memory_order_release,
                                        std::memory_order_relaxed))
        return nullptr;
      for (Item* newest = state.exchange(held(), std::memory_order_acquire); newest != nullptr;) {
        Item* const older = newest->next;
        newest->next = queue_;
        queue_ = newest;
        newest = older;
      }
    }
    Item* const waiter = queue_;
    queue_ = waiter->next;
    return waiter;
  }

  /// Discards holder and waiters. Only while no thread acts for any of them.
  void reset() noexcept {
    state_.store(nullptr, std::memory_order_relaxed);
    queue_ = nullptr;
  }

 private:
  // An address that no waiter has.
  Item* held() noexcept { return reinterpret_cast<Item*>(this); }

  typename Atomics::template Atomic<Item*> state_{nullptr};
  typename Atomics::template Plain<Item*> queue_ = nullptr;
};

using Reservation = BasicReservation<Waiter>;

}  // namespace wormcube
