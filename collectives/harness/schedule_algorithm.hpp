// A schedule with named values as an algorithm: runs, replays and pictures take it as any other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/dataflow/named.hpp"

#include <string>

namespace wormcube {

/// The name of the algorithm that a schedule becomes.
inline constexpr std::string_view schedule_algorithm_name = "schedule";

/// Registers the schedule as an algorithm of its operation, once in a process. Its program moves
/// and combines the values that the messages name; block and element sizes are the call's. It runs
/// on networks with as many nodes; on the schedule's own network messages keep their routes.
///
/// \param call    the operation that the schedule performs, with its arguments
/// \param origin  the file
/// Throws UsageError if messages have no names, unless the operation moves no data; if the proof
/// finds that the schedule does not perform the operation; for alltoallv, whose block sizes only
/// two nodes know; and for a second schedule.
const Algorithm& add_schedule_algorithm(NamedSchedule schedule, const ScheduledCall& call,
                                        const std::string& origin);

}  // namespace wormcube
