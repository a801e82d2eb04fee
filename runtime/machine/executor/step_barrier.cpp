// The last to arrive releases the first; each releases two others.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/executor/step_barrier.hpp"

namespace wormcube {

void StepBarrier::begin_run() noexcept {
  finished_ = 0;
  to_come_ = nodes();
  for (Place& each : places_) each.finished.store(false, std::memory_order_relaxed);
}

Gate& StepBarrier::come(Rank rank) noexcept {
  Gate& gate = place(rank).gate;
  gate.arm(1);
  arrive();
  return gate;
}

void StepBarrier::finish(Rank rank) noexcept {
  place(rank).finished.store(true, std::memory_order_relaxed);
  finished_.fetch_add(1, std::memory_order_acq_rel);
  arrive();
}

void StepBarrier::arrive() noexcept {
  if (to_come_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  to_come_.store(nodes() - finished_.load(std::memory_order_acquire), std::memory_order_release);
  release(0);
}

// All have arrived. Each node that continues releases two others first, so that no node wakes all.
void StepBarrier::release(Rank rank) noexcept {
  if (rank >= nodes()) return;
  Place& each = place(rank);
  if (each.finished.load(std::memory_order_relaxed)) return leave(rank);
  if (each.gate.arrive()) executor_.wake(rank, each.gate);
}

void StepBarrier::leave(Rank rank) noexcept {
  if (rank > (nodes() - 2) / 2) return;  // a leaf
  release(2 * rank + 1);
  release(2 * rank + 2);
}

void StepBarrier::stop() noexcept {
  for (Rank rank = 0; rank < nodes(); ++rank) {
    Gate& gate = place(rank).gate;
    if (gate.stop()) executor_.wake(rank, gate);
  }
}

void StepBarrier::reset() noexcept {
  for (Place& each : places_) each.gate.reset();
}

}  // namespace wormcube
