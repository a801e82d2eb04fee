// Prefix reductions that other functions use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

/// Which blocks node r combines: those of 0 .. r, or of 0 .. r-1 (node 0 nothing).
enum class Prefix : std::uint8_t { inclusive, exclusive };

/// Partners across one bit after another swap what their groups have.
/// \param mine    this node's block
/// \param result  memory for the result; for an inclusive one it may be `mine`. Node 0's stays as
///                it is if exclusive
void scan_across_bits(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                      Prefix prefix);

}  // namespace wormcube
