// Checking and counting a schedule: matching, ports, link load, deadlock freedom; start-ups,
// transmission, rearrangement, hops.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <string>
#include <vector>

namespace wormcube {

/// One step; what is rearranged and combined is that of the gap before it.
struct StepFigures {
  Bytes largest = 0;  // message
  int link_load = 0;  // most messages on one directed link
  Bytes cost = 0;     // bytes on the busiest directed link; at least the largest message
  Bytes rearranged = 0, combined = 0;  // of the node that does most
};

struct ScheduleReport {
  // Counts. A step counts as a start-up if any node sends in it.
  std::size_t steps = 0;
  std::size_t startups = 0;
  Bytes transmission = 0;  // sum over steps of the largest message
  Bytes contended = 0;     // sum over steps of StepFigures::cost
  Bytes injected = 0;      // all ports: sum over steps of the most that one node sends
  Bytes rearranged = 0;    // sum over the gaps between steps of the most that one node permutes
  Bytes combined = 0;      // the same of what one node combines
  std::size_t messages = 0;
  Bytes total_bytes = 0;
  Bytes byte_hops = 0;           // sum over messages of bytes x links
  std::size_t sum_max_hops = 0;  // sum over steps of the longest route
  int max_hops = 0;
  Bytes peak_block_bytes = 0;
  Bytes peak_bytes = 0;

  // Laws.
  // Most messages on one directed link in one step; contention-free means 1.
  int link_load_max = 0;
  // (port, step) pairs in which a port serves more than one message.
  std::size_t port_violations = 0;
  // Sends without a receive of that size and tag in the same step, and the reverse.
  std::size_t unmatched = 0;
  // Whether the channel dependency graph of the routes used is acyclic.
  bool deadlock_free = false;
  // Step by step; one entry more than steps, for the gap after the last one.
  std::vector<StepFigures> per_step;
  // The same for each step's routes alone: what a machine in lock step needs.
  bool deadlock_free_in_lock_step = false;
  // The cycle, if there is one: "a cycle of 4 channels: 0->1, ..".
  std::string cycle;
  // Descriptions of the first ten broken laws: unmatched ends, then ports.
  std::vector<std::string> problems;
  // Descriptions of the first ten links that several messages share in a step: a problem only if
  // the algorithm claims to have no contention.
  std::vector<std::string> contention;

  bool matched() const { return unmatched == 0; }
};

/// A message of a node to itself is a message, but uses no port and no link. A size mismatch counts
/// as two unmatched ends.
///
/// \param all_port  one message per link at a time instead of one per node
///
/// Throws UsageError if the schedule and the routing are for different topologies, or the moves of
/// a message pass one link twice.
ScheduleReport check(const Schedule& schedule, const Routing& routing, bool all_port);

}  // namespace wormcube
