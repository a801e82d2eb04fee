// Whether one end of a message is complete, and which node waits for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/atomics.hpp"

#include <atomic>
#include <cstdint>

namespace wormcube {

/// The completion of something that a node has under way. It completes once.
///
/// Threads       begin, await, watch, unwatch, is_complete: the node. settle: whoever completes it.
/// Invariants    pending -> awaited, or pending <-> watched, by the node; anything -> complete. The
///               completing thread learns what the node did: awaited, it arrives at the node's
///               gate; watched, it calls; pending, it does nothing. An awaited one stays awaited,
///               so that its completion needs no read-modify-write; the completing thread does not
///               touch it after settle(), but it stays valid until the gate has opened.
/// Memory order  settle releases what was done for the node. The node acquires it by is_complete(),
///               by a failed await or watch, or by the gate.
template <class Atomics = HostAtomics>
class BasicCompletion {
 public:
  enum class Progress : std::uint8_t { pending, awaited, watched, complete };

  /// Before it is under way.
  void begin(Progress progress) noexcept { progress_.store(progress, std::memory_order_relaxed); }
  /// False: it is complete already.
  [[nodiscard]] bool await() noexcept { return change(Progress::pending, Progress::awaited); }
  /// One that is already watched stays so.
  [[nodiscard]] bool watch() noexcept {
    return change(Progress::pending, Progress::watched) || !is_complete();
  }
  void unwatch() noexcept { static_cast<void>(change(Progress::watched, Progress::pending)); }
  bool is_complete() const noexcept {
    return progress_.load(std::memory_order_acquire) == Progress::complete;
  }
  /// Completes it; returns the previous state. \tparam Threads  OneThread: the node and the
  /// completing thread are the same
  template <class Threads = SeveralThreads>
  Progress settle() noexcept {
    if (progress_.load(std::memory_order_relaxed) == Progress::awaited) {
      progress_.store(Progress::complete, std::memory_order_release);
      return Progress::awaited;
    }
    return Threads::word(progress_).exchange(Progress::complete, std::memory_order_acq_rel);
  }

 private:
  bool change(Progress from, Progress to) noexcept {
    return progress_.compare_exchange_strong(from, to, std::memory_order_acq_rel,
                                             std::memory_order_acquire);
  }
  typename Atomics::template Atomic<Progress> progress_{Progress::awaited};
};

using Completion = BasicCompletion<>;

}  // namespace wormcube
