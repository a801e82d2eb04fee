// What the writer and the reader of a schedule's text share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace wormcube {

inline constexpr std::string_view schedule_first_line = "wormcube schedule 1",
                                  named_schedule_first_line = "wormcube schedule 2";

/// Bytes that a node works on in the gap before a step, by their keyword. Another count of RankLog
/// that works in the same way is one more row here.
struct GapFigure {
  std::string_view word;
  GapBytes RankLog::*of;
};
inline constexpr std::array<GapFigure, 2> gap_figures{
    {{"rearrange", &RankLog::rearranged}, {"combine", &RankLog::combined}}};

}  // namespace wormcube
