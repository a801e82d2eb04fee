// Broadcasts that other algorithms are made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

/// Recursive doubling by halves of intervals of ranks: any number of nodes.
void broadcast_halving(Node& node, Span message, Rank root);

/// Half way round a ring both ways are as long.
enum class RingTies : std::uint8_t {
  plus,      ///< all go '+', as the router does
  balanced,  ///< nodes at even coordinates send '+', the others '-'
};

}  // namespace wormcube
