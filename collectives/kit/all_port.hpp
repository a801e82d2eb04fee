// All directions of all lines, rings and complete graphs of a product at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/options.hpp"
#include "wormcube/collectives/kit/line_gather.hpp"

#include <span>
#include <vector>

namespace wormcube {

/// The option `half`.
inline HalfWay half_of(const Options& options) { return options.choice<HalfWay>("half"); }
Option half_way_option();

/// A rotated copy for each wide dimension: the dimensions one after another, a window of equal
/// length for each.
std::vector<GatherCopy> all_port_copies(const Topology& topology, HalfWay half);
std::span<const HandoverPlan> all_port_plans(Node& node, HalfWay half);
/// For the reduce-scatter.
Prediction all_port_cost(const Topology& topology, HalfWay half);
Rank all_port_parts(const Topology& topology, HalfWay half);

}  // namespace wormcube
