// How many nodes are how far from a node, and how far the farthest is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace wormcube::theory {

/// Entry l: the number of nodes at distance l, in links, from this one. In a product, distances
/// add. A tree's switches are links apart, but are not counted.
std::vector<std::int64_t> nodes_by_distance(const Topology& topology, Rank from);

/// Whether the network is known to look the same from every node: a product of Cayley graphs.
bool nodes_are_alike(const Topology& topology);

/// The distance from a node to the farthest other: the smallest of any node (the radius) and the
/// largest (the diameter).
struct Eccentricities {
  int least, most;
};
/// Nothing for an arbitrary graph in which finding them takes more than a few seconds.
std::optional<Eccentricities> eccentricities(const Topology& topology);

}  // namespace wormcube::theory
