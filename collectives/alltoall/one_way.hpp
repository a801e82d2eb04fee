// The part of a total exchange that travels in one direction round a ring: a building block.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"

namespace wormcube {

/// One direction round the ring, to the nodes up to `reach` away. Of the block for the last of them
/// only part `part` of `parts` takes this direction.
struct OneWay {
  int sign;  ///< +1, -1
  Rank reach;
  Rank part = 0, parts = 1;
};

/// Delivers these blocks in `reach` steps; step t sends a bundle of what is for `reach` - t + 1
/// nodes. On a line the message from one end to the other returns over the reverse links.
void alltoall_one_way(Node& node, const OneWay& way, ConstBlocks out, Blocks in);

}  // namespace wormcube
