// The option --node-sets of `show` and `draw`: marks masters, diagonals, cells in pictures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

#include <CLI/CLI.hpp>

namespace wormcube::cli {

void add_node_sets_option(CLI::App& app, bool& node_sets);
/// Throws UsageError, with the algorithms that have some, if the algorithm has no sets of nodes.
NodeSets sets_to_mark(const Collective& collective, const Topology& topology);

}  // namespace wormcube::cli
