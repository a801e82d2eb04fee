// What the code between threads is built of: the language's atomics.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace wormcube {

/// Given to what threads share as a parameter, so that tests can give it others: some that try
/// everything that the memory model allows (tests/interleavings, docs/concurrency.md).
struct HostAtomics {
  template <class T>
  using Atomic = std::atomic<T>;
  /// What one thread at a time uses; the atomics beside it order them.
  template <class T>
  using Plain = T;
};

}  // namespace wormcube
