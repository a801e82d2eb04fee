// What all-gathers begin with: the checks that they share, and this node's own block.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

#include <string_view>

namespace wormcube {

/// One block to give, one of every node to end with; this node's of one size on both sides.
/// Throws UsageError that names the algorithm and the numbers.
void require_allgather(std::string_view algorithm, const Node& node, ConstBlocks mine, Blocks all);

/// Copies this node's block to its place, where it may lie already. Local work.
void keep_own(Node& node, ConstBlocks mine, Blocks all);

}  // namespace wormcube
