// k-to-all broadcast on any network in the fewest steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

#include <span>

namespace wormcube {

/// k-to-all broadcast: the blocks of k source nodes end at every node: Bruck's all-gather, to which
/// the other nodes bring nothing. Who has nothing yet sends nothing.
///
/// \param sources  k different nodes, ascending
/// \param mine     1 block at a source, none elsewhere
/// \param blocks   k blocks of that size; block i comes from the i-th source
///
/// Network  any, of any p, sources anywhere; one-port.
/// Cost     ceil(log2 p) steps; step t moves as many blocks as there are sources among min(2^t,
///          p - 2^t) neighbouring ranks at the most.
/// Links    every step is part of a circular shift: free of contention on hypercubes and complete
///          networks.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, problem 4.16, for any
///          sources; Bruck et al., IEEE TPDS 8(11), 1997.
/// Throws   UsageError, before any message, unless sources and blocks are as above.
void k_broadcast_bruck(Node& node, std::span<const Rank> sources, ConstBlocks mine, Blocks blocks);

}  // namespace wormcube
