// The number of a node.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace wormcube {

/// The number of an emulated node: row-major in the topology's coordinates, last coordinate
/// fastest. Signed, so that the papers' r - t can be computed before it is reduced modulo p.
using Rank = std::int32_t;
/// The largest network, so that links and pairs of dimensions can be counted in 64 bits.
inline constexpr Rank max_nodes = 1 << 20;

}  // namespace wormcube
