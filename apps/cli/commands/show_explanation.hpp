// What `show --explain` prints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

namespace wormcube::cli {

/// The idea of the algorithm, and of each of its phases, in sentences.
void print_explanation(const OutputOptions& output, const Algorithm& algorithm,
                       const Schedule& schedule, Json& json);

}  // namespace wormcube::cli
