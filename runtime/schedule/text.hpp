// The text form of a schedule, for people, diffs and other tools. A text that is written and read
// again gives an equal schedule.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

#include <string>
#include <string_view>

namespace wormcube {

/// The schedule as text, for instance
///
///     wormcube schedule 1
///     topology ring:4
///     steps 2
///
///     step 0
///     node 0: rearrange 8, send 16 to 1 by 0+1, receive 16 from 3
///     node 1: send 16 to 2 by 0+1 tag 5, receive 16 from 0
///     nodes 2..3: end
///
///     step 1
///     node 0: send 8 to 1
///
///     end
///     nodes 0..3: rearrange 8, peak 64, peak_blocks 32
///
/// - Numbers after send, receive, rearrange, combine and the peaks are bytes. `by` is followed by
///   the moves of a message, dimension and signed hops each, in the order travelled: "0+1 1-2".
///   Without `by` the router chooses the path. A tag of 0 is left out.
/// - A node's `rearrange` is listed in the step that it comes before; after the last step, in
///   `end`. `combine` likewise, for what a reduction combines. Zeros are left out.
/// - A node without a line takes the step idle. `end` in a step: the node takes neither this step
///   nor a later one (nodes of one schedule may differ in their number of steps). At most one per
///   node. Nodes come in any order, each once in a step.
/// - `nodes A..B` have equal lines; only lines without messages are joined so.
/// - '#' starts a comment; empty lines and the number of blanks do not matter.
std::string schedule_text(const Schedule& schedule);

/// Reads the text form. What schedule_text() wrote is read as an equal schedule, if each message's
/// moves follow those of the previous message in the log, as they do in all recorded or traced
/// ones.
///
/// \param name        the file's name, for error messages
/// \param most_bytes  memory that the schedule may take; a few bytes of text can request much
/// Throws UsageError with name and line for any other text, for peers and moves outside the
/// topology, and for moves that lead elsewhere.
Schedule parse_schedule(std::string_view text, std::string_view name,
                        double most_bytes = 8.0 * 1024 * 1024 * 1024);

}  // namespace wormcube
