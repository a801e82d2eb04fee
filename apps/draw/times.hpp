// When each message of a replay holds each of its channels, for players that show a replay.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/draw/pack.hpp"
#include "wormcube/runtime/replay/replay.hpp"

namespace wormcube::apps {

/// For each message between two nodes, in the order of pack_messages(), picoseconds as differences:
/// the end of its start-up, from that of the previous message (zigzag); for each channel and the
/// ejection port its request, from the previous event, and its grant, from the request; the arrival
/// of the tail; for each channel its release, from the release of the previous channel, for the
/// first channel from its grant.
struct PlayTimes {
  Ticks time = 0;  ///< of the whole replay
  std::size_t blocked = 0;
  Packed packed;
};
/// Throws UsageError for a replay that ends in a deadlock, and for store and forward.
PlayTimes pack_times(const Schedule& schedule, const Routing& routing, const MachineModel& model);

}  // namespace wormcube::apps
