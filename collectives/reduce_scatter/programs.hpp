// Reduce-scatters that other algorithms use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/loads.hpp"

#include <vector>

namespace wormcube {

/// The dual of Bruck's all-gather; any number of nodes.
void reduce_scatter_bruck(Node& node, const Call& call);
/// Its messages, step by step, for this block size.
std::vector<Messages> reduce_scatter_bruck_messages(Rank p, bool commutative, double blocks = 1);
/// Without contention.
Prediction reduce_scatter_bruck_cost(Rank p, bool commutative);

/// Round the lines of one dimension after another, the last first; lines and rings.
void reduce_scatter_mesh(Node& node, const Call& call);
Prediction reduce_scatter_mesh_cost(const Topology& topology, bool commutative);

/// Strided halves swapped bit by bit; 2^d nodes.
void reduce_scatter_hypercube(Node& node, const Call& call);
/// Its messages on p nodes, step by step, for this block size.
std::vector<Messages> reduce_scatter_hypercube_messages(Rank p, double blocks = 1);

}  // namespace wormcube
