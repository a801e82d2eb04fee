// What `wormcube run --links` writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/collectives/harness/run.hpp"

#include <vector>

namespace wormcube::cli {

/// What every channel carried in one call; channels that carried nothing are left out.
std::vector<Json> channels_json(const RunResult& result, const Topology& topology);

}  // namespace wormcube::cli
