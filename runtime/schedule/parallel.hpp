// The parallel loop of dry runs, checks, proofs and replays.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/fiber/sanitizers.hpp"
#include "wormcube/runtime/base/host/faults.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <new>

#include <tbb/enumerable_thread_specific.h>
#ifdef WORMCUBE_TSAN
#include <thread>
#else
#include "wormcube/runtime/base/host/memory.hpp"

#include <cerrno>
#include <system_error>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace wormcube {

/// A value for each thread that takes part in a loop. Its memory comes from the standard allocator,
/// because ThreadSanitizer does not see what the library's own does.
template <class T>
using EachThread = tbb::enumerable_thread_specific<T, std::allocator<T>>;

#ifndef WORMCUBE_TSAN
/// One arena for all loops, because creating one takes far longer than a short loop. It requests no
/// more threads than the library would by itself, on the cores that the process is bound to (by
/// mpirun, say). Null: loops have one thread, because there is one core, or no memory for others.
///
/// If the library runs out of memory while it sets an arena up, the next attempt would wait for the
/// first one for ever. So there is one attempt, and it is made here.
inline tbb::task_arena* loop_arena() {
  static tbb::task_arena* const only = []() -> tbb::task_arena* {
    const int threads = loop_threads();
    if (threads < 2) return nullptr;
    try {
      static tbb::task_arena arena(std::min(tbb::this_task_arena::max_concurrency(), threads));
      arena.initialize();
      return &arena;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }();
  return only;
}
#endif

/// Calls body(0) ... body(count - 1), some at the same time. If bodies throw, the exception of the
/// lowest index is rethrown: the same one in every run. Indices above it may be left out.
///
/// Throws std::system_error if the system provides no thread (a loop of less than 0.1 ms requests
/// none).
///
/// ThreadSanitizer does not see what happens inside the TBB library, and would report every loop;
/// under it, plain threads do the same, and the bodies are checked.
///
/// \tparam Clock  measures the 0.1 ms
template <class Clock = std::chrono::steady_clock, class Body>
void parallel_for_each_index(std::size_t count, const Body& body) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<std::size_t> lowest{count};
  const Activity* const activity = Activity::current();
  const auto guarded = [&](std::size_t index) {
    if (index > lowest.load(std::memory_order_relaxed)) return;  // relaxed: a hint that saves work
    const Activity::Lent lent(activity);
    try {
      body(index);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (index < lowest.load(std::memory_order_relaxed)) {  // relaxed: written under the lock only
        lowest.store(index, std::memory_order_relaxed);
        failure = std::current_exception();
      }
    }
  };
#ifdef WORMCUBE_TSAN
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t index = next++; index < count; index = next++) guarded(index);
  };
  std::thread other(work);
  work();
  other.join();
#else
  // Short loops end here: other threads need much of that time to wake up, and then spin equally
  // long when they are done.
  constexpr std::chrono::microseconds alone{100};
  const auto start = Clock::now();
  std::size_t first = 0;
  while (first < count && Clock::now() - start < alone) guarded(first++);
  tbb::task_arena* const arena = first < count ? loop_arena() : nullptr;
  if (arena == nullptr) {
    while (first < count) guarded(first++);
  }
  try {
    if (first < count) arena->execute([&] { tbb::parallel_for(first, count, guarded); });
  } catch (const std::exception& error) {  // the library's own: bodies are guarded
    throw std::system_error(EAGAIN, std::generic_category(), error.what());
  }
#endif
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace wormcube
