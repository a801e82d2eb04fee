// Nodes that are threads: how they sleep and wake, and how one detects that none runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/executor/futex.hpp"
#include "wormcube/runtime/machine/executor/gate.hpp"
#include "wormcube/runtime/network/atomics.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace wormcube {

/// A function that detects that no node runs or will by itself, and that not all have ended, calls
/// all_wait().
///
/// Threads       begin: before the nodes run. block, end: the node's. wake: any.
/// Invariants    the low half of count_ counts the nodes that are not parked, the high half those
///               that have ended. A node subtracts itself after it has announced that it parks and
///               before it blocks; whoever wakes a node adds it first. So the low half is never
///               below the number of nodes that run or will, and at 0 nobody runs and nobody is
///               being woken.
/// Memory order  acq_rel: whoever reads the last one's change sees what all others did before
///               theirs.
template <class Atomics = HostAtomics>
class BasicNodeThreads {
 public:
  using Gate = BasicGate<Atomics>;

  void begin(std::size_t nodes) noexcept {
    nodes_ = nodes;
    count_.store(nodes, std::memory_order_relaxed);
  }

  /// After gate.park(): sleeps until the gate says that the node is not parked any more.
  template <class F>
  void block(Gate& gate, F&& all_wait) {
    count_out(1, all_wait);
    for (;;) {
      const std::uint32_t seen = gate.word().load(std::memory_order_acquire);
      if (!gate.is_parked()) return;
      sleep_while_equal(gate.word(), seen);
    }
  }
  /// For the thread that the gate says must wake the node; of several, one does.
  template <class F>
  void wake(Gate& gate, F&& all_wait) noexcept {
    // Before the node can run, park again and count itself out.
    count_.fetch_add(1, std::memory_order_acq_rel);
    if (gate.unpark()) {
      wake_sleepers(gate.word());
    } else {
      count_out(1, all_wait);  // another thread woke it
    }
  }
  template <class F>
  void end(F&& all_wait) noexcept {
    count_out(1 - one_ended, all_wait);
  }

 private:
  static constexpr std::uint64_t one_ended = std::uint64_t{1} << 32;

  template <class F>
  void count_out(std::uint64_t less, F&& all_wait) {
    const std::uint64_t now = count_.fetch_sub(less, std::memory_order_acq_rel) - less;
    if (now % one_ended == 0 && now / one_ended < nodes_) all_wait();
  }

  std::size_t nodes_ = 0;
  typename Atomics::template Atomic<std::uint64_t> count_{0};
};

using NodeThreads = BasicNodeThreads<>;

}  // namespace wormcube
