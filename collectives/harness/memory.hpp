// How much memory a program needs, and how much its dry run records.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace wormcube {

/// What decides the memory of an emulated network, as in MachineOptions: its channels, and buffers
/// for short messages that arrive before their receive.
struct NetworkMemory {
  int virtual_channels = 2;
  Bytes eager_limit = 1024;  // longer messages get no buffer
  std::size_t capacity = 0;  // flits of a lane's queue; 0: it has none
  double scale = 1;          // bytes of the run's messages / of the dry run's
};

/// What a program needs, estimated from dry runs of a few ranks.
struct MemoryNeed {
  double nodes = 0;     // bytes that the nodes' programs hold at once, all nodes together
  double here = 0;      // of these, those of the nodes that were asked for
  double schedule = 0;  // bytes of the recorded schedule
  double plans = 0;     // bytes of the nodes' plans: messages, and copies kept
  double pieces = 0;    // pieces of memory of all messages, sent and received
  // With NetworkMemory only.
  double channels = 0;  // bytes of the channels on all routes
  double queues = 0;    // bytes of their queues
  double early = 0;     // bytes of buffers if all short messages are unexpected
};
/// \param root     a rank that is always in the sample
/// \param network  nullptr: it is not counted
/// \param here     the nodes that are asked for, from the first to one past the last
MemoryNeed memory_need(const Topology& topology, const Program& program, Rank root = 0,
                       const NetworkMemory* network = nullptr, std::pair<Rank, Rank> here = {0, 0});

/// More pieces of messages in a dry run are refused: it visits some million a second.
inline constexpr std::int64_t most_recorded_pieces = 2'000'000'000;

/// The same for a program that will be recorded whole. Throws UsageError, with both figures, if
/// that would take too much memory or too long.
/// \param what     "check alltoall shift on torus:8x8"
/// \param way_out  how to allow more pieces; may be empty
MemoryNeed need_to_record(std::string_view what, const Topology& topology, const Program& program,
                          Rank root, std::int64_t most_pieces = most_recorded_pieces,
                          std::string_view way_out = {});
/// Records a program whole if that takes neither too much memory nor too long, as above.
/// \param title  as of record(): "alltoall shift"
Schedule record_within_limits(std::string_view what, const Topology& topology,
                              const Program& program, Rank root, std::string_view title,
                              std::int64_t most_pieces = most_recorded_pieces);

/// Throws UsageError, with both figures, if there is no memory for all queues.
/// \param what  "alltoall shift on torus:8x8"
void require_queues(std::string_view what, const MemoryNeed& need, const NetworkMemory* network);

}  // namespace wormcube
