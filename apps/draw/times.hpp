// When each message of a replay holds each of its channels: what a player shows by time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/draw/pack.hpp"
#include "wormcube/runtime/replay/replay.hpp"

namespace wormcube::apps {

/// Of each message between two nodes, in the order of pack_messages(), picoseconds as differences:
/// its start-up's end since that of the message before (zigzag); for each channel and the ejection
/// port how long after what came before it was asked for and how long after that granted; when the
/// tail arrived since then; for each channel when it was free again since the one before, the first
/// since its grant.
struct PlayTimes {
  Ticks time = 0;  ///< of it all
  std::size_t blocked = 0;
  Packed packed;
};
/// Throws UsageError for a replay that ends in a deadlock, and for store and forward.
PlayTimes pack_times(const Schedule& schedule, const Routing& routing, const MachineModel& model);

}  // namespace wormcube::apps
