// A shift decomposed into powers of two, for nodes along a line that a Gray code maps onto a
// hypercube.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <vector>

namespace wormcube {

/// The powers of two of a decomposition: forward ones alone, or both directions.
enum class ShiftPowers : std::uint8_t { forward, both };

/// The leaps +-2^b whose sum is q modulo 2^bits, the largest first.
std::vector<Rank> shift_leaps(Rank q, int bits, ShiftPowers powers);

}  // namespace wormcube
