// How a node waits: a gate that counts down to zero.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/atomics.hpp"

#include <atomic>
#include <cstdint>

namespace wormcube {

/// Counts what a node still waits for. The node arms it, others arrive; the last arrival returns
/// whether it must wake the node.
///
/// Threads       the node: arm, arrive_here, is_open, park, answer. Any thread: arrive, call, stop,
///               unpark; where all nodes share one thread (use_one_thread), that one, or whoever
///               finds that no node runs.
/// Invariants    the low bits count arrivals to come. `parked` is set by the node and cleared by
///               exactly one other thread, the one whose unpark() returned true; that one, and no
///               other, unblocks the node. `stopped` is never cleared while a run lasts. `called`
///               asks the node to check something before it parks. Only the node clears it, and
///               then checks, so a call that comes during the check keeps it from parking. An
///               arrival that returned false does not touch the gate again, so the node may arm it
///               anew.
/// Memory order  arrivals and calls release what they did for the node; is_open(), park() and
///               answer() acquire it. All are read-modify-writes of one word after arm(), so the
///               chain of releases is unbroken. arm() is relaxed: the node publishes the gate to
///               others through the reservations that its messages make.
template <class Atomics = HostAtomics>
class BasicGate {
 public:
  /// Once, before it is used: all calls of this gate come from one thread, but for those that are
  /// const.
  void use_one_thread() noexcept { one_thread_ = true; }

  void arm(std::uint32_t arrivals) noexcept {
    // Only this node changes it now, but for `stopped` and `called`.
    change([&](auto&& word) {
      std::uint32_t seen = word.load(std::memory_order_relaxed);
      while (!word.compare_exchange_weak(seen, (seen & (stopped | called)) | arrivals,
                                         std::memory_order_relaxed, std::memory_order_relaxed)) {
      }
    });
  }

  /// True if this was the last arrival and the node is parked: the caller must wake it.
  [[nodiscard]] bool arrive() noexcept {
    return change([](auto&& word) {
      return (word.fetch_sub(1, std::memory_order_acq_rel) & ~(stopped | called)) == (parked | 1U);
    });
  }

  /// The same for several arrivals, by the node itself, which is not parked.
  void arrive_here(std::uint32_t arrivals) noexcept {
    change([&](auto&& word) { word.fetch_sub(arrivals, std::memory_order_acq_rel); });
  }

  /// Asks the node to check. True if it is parked: the caller must wake it.
  [[nodiscard]] bool call() noexcept {
    return change([](auto&& word) {
      return (word.fetch_or(called, std::memory_order_acq_rel) & parked) != 0;
    });
  }
  /// The node is about to check what it may be called for.
  void answer() noexcept {
    change([](auto&& word) { word.fetch_and(~called, std::memory_order_acq_rel); });
  }

  /// Opens the gate for good. True if the node is parked: the caller must wake it.
  [[nodiscard]] bool stop() noexcept {
    return change([](auto&& word) {
      return (word.fetch_or(stopped, std::memory_order_acq_rel) & parked) != 0;
    });
  }

  /// True for exactly one of the callers that must wake the node: that one unblocks it.
  [[nodiscard]] bool unpark() noexcept {
    return change([](auto&& word) {
      return (word.fetch_and(~parked, std::memory_order_acq_rel) & parked) != 0;
    });
  }

  bool is_open() const noexcept {
    const std::uint32_t word = word_.load(std::memory_order_acquire);
    return (word & count) == 0 || (word & stopped) != 0;
  }
  bool is_stopped() const noexcept {
    return (word_.load(std::memory_order_acquire) & stopped) != 0;
  }

  /// Announces that the node is about to leave its core. False: the gate is open, or the node was
  /// called; do not block.
  [[nodiscard]] bool park() noexcept {
    return change([](auto&& word) {
      std::uint32_t seen = word.load(std::memory_order_acquire);
      do {
        if ((seen & count) == 0 || (seen & (stopped | called)) != 0) return false;
      } while (!word.compare_exchange_weak(seen, seen | parked, std::memory_order_acq_rel,
                                           std::memory_order_acquire));
      return true;
    });
  }
  bool is_parked() const noexcept { return (word_.load(std::memory_order_acquire) & parked) != 0; }

  /// Only between runs.
  void reset() noexcept { word_.store(0, std::memory_order_relaxed); }

  /// The word to sleep on: while it equals this value the node is still parked.
  typename Atomics::template Atomic<std::uint32_t>& word() noexcept { return word_; }

 private:
  static constexpr std::uint32_t parked = 1U << 31, stopped = 1U << 30, called = 1U << 29;
  static constexpr std::uint32_t count = called - 1;

  template <class F>
  auto change(F&& f) noexcept {
    return one_thread_ ? f(OneThread::word(word_)) : f(SeveralThreads::word(word_));
  }

  typename Atomics::template Atomic<std::uint32_t> word_{0};
  bool one_thread_ = false;
};

using Gate = BasicGate<>;

}  // namespace wormcube
