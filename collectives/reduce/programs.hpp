// Reductions that other algorithms use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/loads.hpp"

#include <vector>

namespace wormcube {

/// Halves of intervals of ranks combined, the nearest first.
void reduce_halving(Node& node, const Call& call, Rank root);

/// The reduce-scatter in ceil(log2 p) steps that this network admits.
void reduce_scatter_parts(Node& node, const Call& call);
/// Its messages and costs, of parts of 1/p block.
std::vector<Messages> reduce_scatter_parts_messages(Rank p, bool commutative);
Prediction reduce_scatter_parts_cost(Rank p, bool commutative);

}  // namespace wormcube
