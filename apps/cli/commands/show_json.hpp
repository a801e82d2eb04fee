// The JSON of wormcube show: the steps with their messages and links.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/draw/step.hpp"

namespace wormcube::cli {

/// \param shown  the step, or the part of it that is shown
Json step_json(const apps::DrawnStep& step, const apps::DrawnStep& shown, const Routing& routing,
               Bytes block_bytes);
/// The size of a whole schedule's JSON, with its text.
double json_bytes(const Schedule& schedule, const Routing& routing);

}  // namespace wormcube::cli
