// The atomics that the code between threads is built of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <utility>

namespace wormcube {

/// Passed as a parameter to what threads share, so that tests can substitute others: some explore
/// everything that the memory model allows (tests/interleavings, docs/explanation/concurrency.md).
struct HostAtomics {
  template <class T>
  using Atomic = std::atomic<T>;
  /// A plain value that one thread at a time uses; the atomics beside it order the accesses.
  template <class T>
  using Plain = T;
};

/// An atomic that only one thread changes for now. A change is then a load and a store; a locked
/// instruction takes ten times as long, and some twenty of them take a third of a short message's
/// time (bench/README.md).
///
/// Threads       one. Another mechanism orders the threads that use the word before and after; so
///               no change here orders anything. Others may load the word meanwhile.
template <class Atomic>
class OwnedWord {
  static constexpr auto relaxed = std::memory_order_relaxed;
  using Value = decltype(std::declval<Atomic&>().load(relaxed));

 public:
  explicit OwnedWord(Atomic& word) noexcept : word_(word) {}

  Value load(std::memory_order /*order*/) const noexcept { return word_.load(relaxed); }
  void store(Value value, std::memory_order /*order*/) noexcept { word_.store(value, relaxed); }
  Value exchange(Value value, std::memory_order /*order*/) noexcept {
    return replaced(word_.load(relaxed), value);
  }
  Value fetch_sub(Value by, std::memory_order /*order*/) noexcept {
    const Value old = word_.load(relaxed);
    return replaced(old, old - by);
  }
  Value fetch_or(Value bits, std::memory_order /*order*/) noexcept {
    const Value old = word_.load(relaxed);
    return replaced(old, old | bits);
  }
  Value fetch_and(Value bits, std::memory_order /*order*/) noexcept {
    const Value old = word_.load(relaxed);
    return replaced(old, old & bits);
  }
  bool compare_exchange_strong(Value& expected, Value value, std::memory_order /*order*/,
                               std::memory_order /*failure*/) noexcept {
    const Value old = word_.load(relaxed);
    if (old == expected) {
      word_.store(value, relaxed);
      return true;
    }
    expected = old;
    return false;
  }
  bool compare_exchange_weak(Value& expected, Value value, std::memory_order order,
                             std::memory_order failure) noexcept {
    return compare_exchange_strong(expected, value, order, failure);
  }

 private:
  Value replaced(Value old, Value value) noexcept {
    word_.store(value, relaxed);
    return old;
  }
  Atomic& word_;
};

/// How a function accesses the atomics that it changes: several threads use them, or one.
struct SeveralThreads {
  static constexpr bool are_one = false;
  template <class Atomic>
  static Atomic& word(Atomic& atomic) noexcept {
    return atomic;
  }
};
struct OneThread {
  static constexpr bool are_one = true;
  template <class Atomic>
  static OwnedWord<Atomic> word(Atomic& atomic) noexcept {
    return OwnedWord<Atomic>(atomic);
  }
};

}  // namespace wormcube
