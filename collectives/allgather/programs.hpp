// All-gathers that other algorithms use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/loads.hpp"

#include <vector>

namespace wormcube {

/// Round the lines of one dimension after another; lines and rings.
void allgather_mesh(Node& node, const Call& call);

/// Hops of 2^k ranks, the far ones first; this node's own block is already in its place.
void allgather_far_first(Node& node, Blocks all, Rank bundle = 0);
/// Its messages on p nodes, step by step, for this block size.
std::vector<Messages> far_first_messages(Rank p, double blocks = 1);

}  // namespace wormcube
