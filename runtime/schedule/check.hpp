// Checking and counting a schedule: matching, ports, link load, deadlock freedom; start-ups,
// transmission, rearrangement, hops.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/routing/routing.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <string>
#include <vector>

namespace wormcube {

struct ScheduleReport {
  // Counts. A step counts as a start-up if any node sends in it.
  std::size_t steps = 0;
  std::size_t startups = 0;
  Bytes transmission = 0;  // sum over steps of the largest message
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
  // The channel dependency graph of the routes used is acyclic.
  bool deadlock_free = false;
  // The first ten, in words: unmatched ends, a deadlock, ports, contention.
  std::vector<std::string> problems;

  bool matched() const { return unmatched == 0; }
};

/// A message of a node to itself is a message, but uses no port and no link. A size that differs is
/// two unmatched ends.
///
/// \param all_port  one message per link at a time instead of one per node
///
/// Throws UsageError if the schedule and the routing are for different topologies, or the moves of
/// a message pass one link twice.
ScheduleReport check(const Schedule& schedule, const Routing& routing, bool all_port);

}  // namespace wormcube
