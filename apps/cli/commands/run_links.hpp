// The file of `wormcube run --links`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/collectives/harness/run.hpp"

#include <vector>

namespace wormcube::cli {

/// Each channel's traffic in one call; idle channels are left out.
std::vector<Json> channels_json(const RunResult& result, const Topology& topology);

}  // namespace wormcube::cli
