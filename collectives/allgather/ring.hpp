// All-gather on a ring or a line: each block travels once round.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// All-gather (all-to-all broadcast): node r gives one block, every node ends with all p blocks in
/// the order of ranks.
///
/// \param mine  one block: this node's
/// \param all   p blocks of that size; block q comes from node q
///
/// Network  one ring or line of any p; one-port. On a line the message from the last node to the
///          first runs back over the reverse links, which are idle otherwise.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1), the least possible transmission.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.2.1,
///          Algorithm 4.4, Eq. 4.2.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void allgather_ring(Node& node, ConstBlocks mine, Blocks all);

}  // namespace wormcube
