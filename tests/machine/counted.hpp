// Atomics that count the instructions that lock a word.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace machine_tests {

/// Of all Counted: read-modify-writes.
inline int changes = 0;

template <class T>
struct Counted : std::atomic<T> {
  using std::atomic<T>::atomic;
  T exchange(T value, std::memory_order order) {
    ++changes;
    return std::atomic<T>::exchange(value, order);
  }
  T fetch_sub(T value, std::memory_order order) {
    ++changes;
    return std::atomic<T>::fetch_sub(value, order);
  }
  T fetch_or(T value, std::memory_order order) {
    ++changes;
    return std::atomic<T>::fetch_or(value, order);
  }
  T fetch_and(T value, std::memory_order order) {
    ++changes;
    return std::atomic<T>::fetch_and(value, order);
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order success,
                             std::memory_order failure) {
    ++changes;
    return std::atomic<T>::compare_exchange_strong(expected, value, success, failure);
  }
};

/// In place of wormcube::HostAtomics.
struct CountedAtomics {
  template <class T>
  using Atomic = Counted<T>;
};

}  // namespace machine_tests
