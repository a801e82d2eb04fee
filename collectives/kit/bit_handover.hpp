// The reduce-scatter across one bit of the ranks after another, in any order of the bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/cost.hpp"
#include "wormcube/collectives/kit/handover.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace wormcube {

/// Ties: half way round a ring both directions are equally long.
enum class RingTies : std::uint8_t {
  plus,      ///< all go '+', as the router does
  balanced,  ///< nodes at even coordinates send '+', the others '-'
};

/// In the step of a bit a node sends what it has for all nodes that agree with it in the bits done
/// and differ in this one. With bits in ascending order every partial result is one of neighbouring
/// ranks. Needs 2^d nodes.
Handovers bit_handovers(const Topology& topology, std::vector<int> bits, RingTies ties);
Prediction bit_handover_cost(const Topology& topology, std::span<const int> bits, RingTies ties);

/// 0, 1, ..; or the dimensions' bits in turn, the last dimension's lowest first.
std::vector<int> bits_ascending(const Topology& topology);
std::vector<int> bits_interleaved(const Topology& topology);

}  // namespace wormcube
