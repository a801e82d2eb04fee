// The barrier of the lock step: after every step all nodes wait for all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/executor/executor.hpp"
#include "wormcube/runtime/machine/executor/gate.hpp"
#include "wormcube/runtime/machine/executor/padded.hpp"

#include <atomic>
#include <vector>

namespace wormcube {

/// A counter of those yet to arrive, and a gate for each node.
///
/// Threads       come, leave, finish: the node. stop: any, once a run. begin_run, reset: between
///               runs.
/// Invariants    a node that has finished counts as arrived for good. A stopped node's gate is
///               open; it must not leave, for not all have come.
/// Memory order  the counter is read-modify-written with acq_rel: whoever reads the last change
///               sees what all others did before theirs, including that they have finished.
class StepBarrier {
 public:
  StepBarrier(Rank nodes, NodeExecutor& executor)
      : executor_(executor), places_(static_cast<std::size_t>(nodes)) {}

  void begin_run() noexcept;
  /// This node has arrived. It then waits at the gate that is returned, and leaves unless it was
  /// stopped.
  [[nodiscard]] Gate& come(Rank rank) noexcept;
  void leave(Rank rank) noexcept;
  /// The node's program has ended.
  void finish(Rank rank) noexcept;
  /// Opens all gates for good.
  void stop() noexcept;
  bool is_parked(Rank rank) const noexcept { return place(rank).gate.is_parked(); }
  /// Closes them again.
  void reset() noexcept;

 private:
  struct alignas(64) Place {
    Gate gate;
    std::atomic<bool> finished{false};
  };

  Place& place(Rank rank) noexcept { return places_[static_cast<std::size_t>(rank)]; }
  const Place& place(Rank rank) const noexcept { return places_[static_cast<std::size_t>(rank)]; }
  Rank nodes() const noexcept { return static_cast<Rank>(places_.size()); }
  void arrive() noexcept;
  void release(Rank rank) noexcept;

  NodeExecutor& executor_;
  std::vector<Place> places_;
  // Written with every barrier; written once by each node.
  Padded<Rank> to_come_{0}, finished_{0};
};

}  // namespace wormcube
