// What all-gathers share, and what other operations take from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/loads.hpp"

#include <vector>

namespace wormcube {

/// Copies this node's block to its place, where it may lie already. Local work.
inline void keep_own(Node& node, const Call& call) {
  node.local([&] { copy(call.input[0], call.output[node.rank()]); });
}

/// On a ring or a line each block travels once round.
void allgather_ring(Node& node, const Call& call);

/// Hops of 2^k ranks, the far ones first; this node's own block lies in its place.
void allgather_far_first(Node& node, Blocks all, Rank bundle = 0);
/// Its messages on p nodes, step by step, of blocks so large.
std::vector<Messages> far_first_messages(Rank p, double blocks = 1);

/// The order in which the bits of the label are gone through: the lowest first, or the highest.
enum class BitOrder : std::uint8_t { ascending, descending };

}  // namespace wormcube
