// wormcube topology: the distances from a node.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/runtime/topology/topology.hpp"

namespace wormcube::cli {

/// Nodes per distance from this node (-1: node 0), and the smallest and the largest eccentricity.
void show_distances(const Topology& topology, Rank node, const OutputOptions& output, Json& result);

}  // namespace wormcube::cli
