// What runs node programs: all nodes in this process, or a share of them in each process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/statistics.hpp"
#include "wormcube/runtime/machine/team.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <utility>

namespace wormcube {

/// A multicomputer, created and used in the same way by all processes of its team.
///
/// Threads  one at a time.
class Multicomputer {
 public:
  virtual ~Multicomputer() = default;
  Multicomputer() = default;
  Multicomputer(const Multicomputer&) = delete;
  Multicomputer& operator=(const Multicomputer&) = delete;

  virtual const Topology& topology() const = 0;

  /// Runs the program on every node, returns in every process when all have finished. Statistics
  /// cover this run alone and all nodes; every process gets the same.
  ///
  /// Throws the same in every process: Deadlock, TimeLimit, UsageError, NodeFailure.
  virtual Statistics run(const Program& program) = 0;
  /// The same, traced. Process 0 has every node's log; the others only those of their own nodes.
  virtual Statistics run(const Program& program, Schedule& trace) = 0;

  /// The nodes of this process, from the first to one past the last.
  virtual std::pair<Rank, Rank> nodes_here() const = 0;
  /// Whether there are emulated links, which Statistics describe. A real network has none.
  virtual bool has_links() const = 0;
  /// The processes that its nodes live in.
  virtual Team& team() = 0;
};

}  // namespace wormcube
