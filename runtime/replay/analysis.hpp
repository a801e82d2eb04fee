// What a replay is compared with: closed forms without contention, bounds, where the time went.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/replay.hpp"
#include "wormcube/runtime/schedule/check.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// The same schedule with every message as if it were alone on the network: the ports' queues stay,
/// waits and turns do not. No message is delivered earlier in a replay.
struct Uncontended {
  Ticks time = 0;
  std::vector<Ticks> delivered;           // of Replay::messages
  std::vector<std::vector<Ticks>> steps;  // of each node
};
Uncontended uncontended(const Schedule& schedule, const Routing& routing,
                        const MachineModel& model);
/// Uncontended::time alone, which takes no memory for each message.
Ticks uncontended_time(const Schedule& schedule, const Routing& routing, const MachineModel& model);

/// Lock step in one line: the sum over steps of the longest message alone and the most local work.
struct LockStepForm {
  Ticks time = 0;
  /// Why a replay in lock step may take longer; empty: it takes exactly this time.
  std::string not_exact;
};
/// \param report  of check(), for the same schedule, routing and ports
LockStepForm lock_step_form(const Schedule& schedule, const Routing& routing,
                            const MachineModel& model, const ScheduleReport& report);

/// The least time that these messages take in any order: the busiest port with its start-ups, the
/// busiest link.
struct ScheduleBounds {
  Ticks ports = 0, links = 0;
};
ScheduleBounds schedule_bounds(const Schedule& schedule, const Routing& routing,
                               const MachineModel& model);

/// Sums over all messages.
struct Losses {
  Ticks contention = 0;     // waits for channels, turns, slots
  Ticks ports = 0;          // queues at injection and ejection ports
  Ticks late_partners = 0;  // from a receive's post to its send's, where that was later
};
Losses losses(const Schedule& schedule, const MachineModel& model, const Replay& replay);

/// One piece of the critical path: a chain of events, each the reason why the next could not begin
/// earlier, that ends with the replay.
struct PathPiece {
  enum class Kind : std::uint8_t { compute, rearrange, combine, startup, transfer, contention };
  Kind kind;
  Ticks from, to;
  Rank node;         // the node that works, or the sender
  std::size_t step;  // of the message; of work: the step that it comes before
  Rank peer;         // -1: own work
  Bytes bytes;
};
std::string_view to_string(PathPiece::Kind kind);
/// From the beginning to the end of a replay with Replay::steps; empty after a deadlock.
std::vector<PathPiece> critical_path(const Schedule& schedule, const MachineModel& model,
                                     const Replay& replay);

}  // namespace wormcube
