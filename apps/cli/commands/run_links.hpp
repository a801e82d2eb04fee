// What `run` says of single links and pairs of nodes: --links, --occupancy, wrong pairs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/collectives/harness/run.hpp"

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// Each channel's traffic in one call; idle channels are left out.
std::vector<Json> channels_json(const RunResult& result, const Topology& topology);

/// Writes how many flits found how many others in each lane, in one call.
void write_occupancy(const std::string& file, const RunResult& result, const Topology& topology);

/// The options --links and --occupancy.
void add_link_options(CLI::App& app, std::string& links, std::string& occupancy);
/// `wrong_pairs`.
void add_wrong_pairs(Json& json, const RunResult& result);
/// Notes these pairs, if there are any to name.
void note_wrong_pairs(Results& results, const std::string& title, const RunResult& result);

}  // namespace wormcube::cli
