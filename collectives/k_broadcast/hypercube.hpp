// k-to-all broadcast on a hypercube by recursive doubling.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/allgather/hypercube.hpp"
#include "wormcube/collectives/blocks.hpp"

#include <span>

namespace wormcube {

/// k-to-all broadcast: the blocks of k source nodes end at every node: an all-gather to which the
/// other nodes bring nothing. Who has nothing yet sends nothing.
///
/// \param sources  k different nodes, ascending
/// \param mine     1 block at a source, none elsewhere
/// \param blocks   k blocks of that size; block i comes from the i-th source
///
/// Network  hypercube, sources anywhere; one-port.
/// Cost     d = log2 p steps, each of the most blocks that a node has got. From sources 0 .. k-1,
///          k = 2^j: ascending ts log p + tw m (k log(p/k) + k - 1), which is the book's; descending
///          ts log p + tw m (log(p/k) + k - 1), never more.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, problem 4.16.
/// Throws   UsageError, before any message, unless network, sources and blocks are as above.
void k_broadcast_hypercube(Node& node, std::span<const Rank> sources, ConstBlocks mine,
                           Blocks blocks, BitOrder order);

}  // namespace wormcube
