// Cuts of a network that are known without a flow, for the bounds of flows.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace wormcube::theory {

bool has_switches(const Topology& topology);

/// Fewest and most links out of a node.
std::pair<int, int> degrees(const Topology& topology);

/// Where there are too many cuts for flows: the fewest ports of a node, the worst known cut of each
/// dimension.
struct KnownCut {
  Rank inside;  // nodes of the smaller part
  std::int64_t cables;
};
std::vector<KnownCut> known_cuts(const Topology& topology);

}  // namespace wormcube::theory
