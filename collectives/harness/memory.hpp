// How much memory a program needs, and how much its dry run has to write down.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace wormcube {

/// What an emulated network keeps messages in, as MachineOptions has it: flit queues, and buffers
/// for short messages that come before they are received.
struct FlitQueues {
  int virtual_channels = 2;
  std::size_t capacity = 4;  // flits
  Bytes eager_limit = 1024;  // longer messages pass no queue and get no buffer
  double scale = 1;          // bytes of the run's messages / of the dry run's
};

/// What a program needs, estimated from dry runs of a few ranks.
struct MemoryNeed {
  double nodes = 0;     // bytes that the nodes' programs hold at once, all nodes together
  double here = 0;      // of these those of the nodes that were asked for
  double schedule = 0;  // bytes of the recorded schedule
  double plans = 0;     // bytes of the nodes' plans: messages, and copies kept
  double pieces = 0;    // pieces of memory that all messages are cut into, sent and received
  double queues = 0;    // bytes of the queues on all routes; with FlitQueues only
  double flits = 0;     // bytes of those that flits of one run go through
  double early = 0;     // bytes of buffers if all short messages come early; with FlitQueues only
};
/// \param root    a rank that is surely among those tried
/// \param queues  nullptr: no queues are counted
/// \param here    nodes that are asked for, from the first to one past the last
MemoryNeed memory_need(const Topology& topology, const Program& program, Rank root = 0,
                       const FlitQueues* queues = nullptr, std::pair<Rank, Rank> here = {0, 0});

/// More pieces of messages in a dry run are refused: it goes through some million a second.
inline constexpr std::int64_t most_recorded_pieces = 2'000'000'000;

/// The same for a program that will be recorded whole. Throws UsageError, with both figures, if
/// that would take too much memory or too long.
/// \param what     "check alltoall shift on torus:8x8"
/// \param way_out  how more than so many pieces can be had; may be empty
MemoryNeed need_to_record(std::string_view what, const Topology& topology, const Program& program,
                          Rank root, std::int64_t most_pieces = most_recorded_pieces,
                          std::string_view way_out = {});

/// Throws UsageError, with both figures, if the queues cannot be had in full, full or not.
/// \param what  "alltoall shift on torus:8x8"
void require_queues(std::string_view what, const MemoryNeed& need, const FlitQueues& queues);
/// Bytes of the queues' memory that is touched in so many runs.
double queue_bytes(const MemoryNeed& need, int runs);

}  // namespace wormcube
