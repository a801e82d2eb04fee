// k-to-all broadcast on a ring or a line: broadcasts that follow one another round.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

#include <span>

namespace wormcube {

/// k-to-all broadcast: the blocks of k source nodes end at every node. Every broadcast goes once
/// round, from neighbour to neighbour, and all go at the same time without meeting.
///
/// \param sources  k different nodes, ascending
/// \param mine     1 block at a source, none elsewhere
/// \param blocks   k blocks of that size; block i comes from the i-th source
///
/// Network  one ring or line of any p, sources anywhere; one-port. On a line the messages from the
///          last node to the first run back over the reverse links, which are idle otherwise.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1) for any k; k broadcasts one after the other
///          cost (ts + tw m) k log p, which is more from k > (p - 1)/log p on.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.2.4 (which says
///          p steps).
/// Throws   UsageError, before any message, unless network, sources and blocks are as above.
void k_broadcast_pipelined(Node& node, std::span<const Rank> sources, ConstBlocks mine,
                           Blocks blocks);

}  // namespace wormcube
