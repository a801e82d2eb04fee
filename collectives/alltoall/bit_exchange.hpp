// One copy of the log p total exchange: one label bit after another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"

namespace wormcube {

/// Copy j of `copies` of the exchange among 2^bits nodes: part j of every block, over the label's
/// bits j, j+1, .., j-1 (mod bits). One step a bit; in each, half of what a node holds leaves it.
/// All of it is rearranged before every step.
void alltoall_bit_exchange(Node& node, int bits, int j, int copies, ConstBlocks out, Blocks in);

}  // namespace wormcube
