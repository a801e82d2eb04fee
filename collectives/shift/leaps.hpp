// A shift taken apart into powers of two, for nodes along a line that a Gray code lays into a
// hypercube.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <vector>

namespace wormcube {

/// Into which powers of two a shift is taken apart: forward ones alone, or both directions.
enum class ShiftPowers : std::uint8_t { forward, both };

/// The leaps +-2^b whose sum is q modulo 2^bits, the largest first.
std::vector<Rank> shift_leaps(Rank q, int bits, ShiftPowers powers);

}  // namespace wormcube
