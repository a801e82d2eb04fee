// The machine: runs a node program on every node of a topology, over the wormhole network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/multicomputer.hpp"
#include "wormcube/runtime/machine/options.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <memory>
#include <utility>

namespace wormcube {

/// The multicomputer in this process. Its nodes live as long as it does: run() wakes them, then
/// they sleep again. A node is pinned: it always runs on the same thread.
///
/// Threads  any may call run(), one at a time. A second run() meanwhile throws UsageError, and so
///          does run() in a process forked from the machine's, which has none of its threads. The
///          nodes' threads receive no signals that are sent to the process.
class Machine final : public Multicomputer {
 public:
  /// Throws UsageError if the routing's channel dependency graph has a cycle (unless allow_cycles),
  /// an option is out of range, there is no memory for its tables, or the system does not give the
  /// threads or stacks.
  explicit Machine(const Topology& topology, const MachineOptions& options = {});
  ~Machine() override;

  const Topology& topology() const override;
  const MachineOptions& options() const;

  /// Runs the program on every node and returns when all have finished. Statistics cover this run
  /// alone. Each node begins with the caller's floating-point environment (rounding mode, flush to
  /// zero).
  ///
  /// Throws Deadlock with a table if all nodes wait and nothing is in flight; TimeLimit; for the
  /// first exception of a node program NodeFailure, or UsageError if it is one, with the rank in
  /// front. A UsageError is rethrown as it is if other nodes throw the same one (collective
  /// arguments), or if no other node has reached that point. The machine can run again after each.
  Statistics run(const Program& program) override;

  /// The same, traced: each node's log goes to schedule.ranks[rank].
  Statistics run(const Program& program, Schedule& trace) override;

  std::pair<Rank, Rank> nodes_here() const override { return {0, topology().nodes()}; }
  bool has_links() const override { return true; }
  Team& team() override { return team_of_one(); }

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wormcube
