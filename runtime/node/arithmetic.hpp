// Arithmetic on ranks that papers assume.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/rank.hpp"

#include <bit>

namespace wormcube {

/// x modulo p, in 0 .. p-1 also for negative x.
constexpr Rank mod(Rank x, Rank p) { return (x % p + p) % p; }

/// The least t with 2^t >= x, for x >= 1.
constexpr int log2_ceiling(Rank x) { return std::bit_width(static_cast<unsigned>(x) - 1U); }

}  // namespace wormcube
