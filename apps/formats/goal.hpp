// GOAL, the schedules of LogGOPSim and ATLAHS: read, laid into steps, and written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

#include <string>
#include <string_view>

namespace wormcube::apps {

/// Whether the first word of the text is `num_ranks`.
bool is_goal(std::string_view text);

/// Reads GOAL text as a schedule on a complete network. A message's step is its depth: one more
/// than the greatest step among the messages that its two ends require.
///
/// \param most_bytes  memory that it may take
/// Throws UsageError, "NAME:LINE: what", for other text, for wildcards, for `cpu` and `nic` above
/// 0, for ends without their other end, for sizes that differ, and for a cycle.
Schedule parse_goal(std::string_view text, std::string_view name,
                    double most_bytes = 8.0 * 1024 * 1024 * 1024);

/// The schedule as GOAL text. Each step of a node requires all of its step before; local work takes
/// no time. The tag is the step.
std::string goal_text(const Schedule& schedule);

}  // namespace wormcube::apps
