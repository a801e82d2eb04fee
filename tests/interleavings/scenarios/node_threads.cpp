// Nodes that all wait.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/interleavings/scenarios/programs.hpp"

#include <array>

namespace interleavings {
namespace programs {
namespace {

// Nodes of which each waits for what never comes: the last to wait finds it,
// and sees what all have done.
template <int Threads, bool OneEnds>
struct ThreadsWait {
  static constexpr int threads = Threads;
  wormcube::BasicNodeThreads<Explored> nodes;
  std::array<Gate, Threads> gates;
  std::array<Plain<int>, Threads> work;
  Plain<int> found = 0;
  Atomic<bool> stopping = false;

  ThreadsWait() {
    nodes.begin(Threads);
    for (Gate& gate : gates) gate.arm(2);  // of which one comes
  }
  void all_wait() {
    if (stopping.exchange(true, std::memory_order_acq_rel)) return;
    found = found + 1;
    for (const Plain<int>& each : work) require(each == 1, "it sees what all have done");
    for (Gate& gate : gates) {
      if (gate.stop()) nodes.wake(gate, [this] { all_wait(); });
    }
  }
  void thread(int i) {
    work[i] = 1;
    Gate& next = gates[(i + 1) % Threads];
    if (!OneEnds && next.arrive()) nodes.wake(next, [this] { all_wait(); });
    forget(1);
    if (!OneEnds || i > 0) {
      if (gates[i].park()) nodes.block(gates[i], [this] { all_wait(); });
      require(gates[i].is_stopped(), "it goes on when it is stopped");
    }
    forget(2);
    nodes.end([this] { all_wait(); });
  }
  void end() { require(found == 1, "it is found, once"); }
};

}  // namespace
}  // namespace programs

std::vector<Scenario> node_threads_scenarios() {
  return {
      quick<programs::ThreadsWait<2, false>>("threads that all wait: 2", fewer),
      wide<programs::ThreadsWait<3, true>>("threads that all wait: 2 of 3, one ends", fewer),
  };
}

}  // namespace interleavings
