// Both directions of every ring at once, to neighbours: the bucket algorithm of tori.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/options.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"

#include <span>
#include <vector>

namespace wormcube {

/// How the block for the node half way round an even ring travels: all of it in one direction, or
/// half in each.
enum class HalfWay : std::uint8_t { plus, split };
/// The option `half`.
inline HalfWay half_of(const Options& options) { return options.choice<HalfWay>("half"); }
/// The option `half` of ring-all-port algorithms.
Option half_way_option();

/// A rotated copy for each wide dimension: the dimensions one after another, in each the data for
/// the farthest first, hop by hop.
std::vector<TorusCopy> ring_all_port_copies(const Topology& topology, HalfWay half);
std::span<const HandoverPlan> ring_all_port_plans(Node& node, HalfWay half);
/// For the reduce-scatter.
Prediction ring_all_port_cost(const Topology& topology, HalfWay half);
Rank ring_all_port_parts(const Topology& topology, HalfWay half);

}  // namespace wormcube
