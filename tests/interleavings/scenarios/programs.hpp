// What the programs share: items of lists, and nodes that wait.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/executor/gate.hpp"
#include "wormcube/runtime/machine/executor/node_threads.hpp"
#include "wormcube/tests/interleavings/atomics.hpp"
#include "wormcube/tests/interleavings/scenarios.hpp"

namespace interleavings {
namespace programs {

using Gate = wormcube::BasicGate<Explored>;
constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release;

/// What lists are made of: an item of one thread, that others carry on.
template <class Self>
struct Listed {
  Plain<int> data = 0;
  Plain<Self*> next = nullptr;
  Plain<int> handled = 0;
};
struct Item : Listed<Item> {};

/// Nodes as threads: how all that follow wait.
struct Nodes {
  wormcube::BasicNodeThreads<Explored> nodes;
  static void nobody_may_find() { require(false, "somebody runs, or will"); }
  void wait(Gate& gate) {
    if (gate.is_open()) return;
    if (gate.park()) nodes.block(gate, nobody_may_find);
  }
  void wake(Gate& gate) { nodes.wake(gate, nobody_may_find); }
};

}  // namespace programs

constexpr Bounds fewer{.stale_reads = 0, .early_returns = 0};

template <class World>
Scenario quick(const char* name, const Bounds& bounds = {}) {
  return {name, false, bounds, explore<World>};
}
template <class World>
Scenario wide(const char* name, const Bounds& bounds = {}) {
  return {name, true, bounds, explore<World>};
}

}  // namespace interleavings
