// Conditions on a network, as values that algorithms share, with their texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <functional>
#include <optional>
#include <string>

namespace wormcube {

struct Need {
  std::string text;  ///< "every dimension must be a multiple of 4"
  /// What the network has instead, "torus:6x6 has 6"; nothing if the condition holds.
  std::function<std::optional<std::string>(const Topology&)> complaint;
};

namespace needs {

/// What a complaint says of a dimension: "torus:4x4*line:3 has line:3".
std::string has_factor(const Topology& topology, const Graph& graph);

/// Lines, or rings, or both; of 1 or 2 nodes a line is a ring.
Need lines();
Need rings();
/// The same without cables: a ring of 2 has one link in each direction, not two.
Need rings_of_three();
Need lines_and_rings();
/// All rings, without cables, or all lines.
Need rings_of_three_or_lines();
/// One dimension, a line or a ring.
Need line_or_ring();
/// This many dimensions.
Need dimensions(int exactly);
Need dimensions_at_least(int least);
/// Every size a multiple; every size a power of 2; the number of nodes a power of 2.
Need multiples_of(Rank divisor);
Need powers_of_two();
Need nodes_power_of_two();
/// Every dimension of size 2.
Need hypercube();
/// A square mesh of 2^d x 2^d.
Need square_mesh_of_power_of_two();
/// Every size the same.
Need equal_sizes();
Need nodes_at_most(Rank most);

}  // namespace needs

}  // namespace wormcube
