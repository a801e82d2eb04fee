// k-to-all broadcast on a hypercube with messages that are split.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

#include <span>

namespace wormcube {

/// k-to-all broadcast: the blocks of k source nodes end at every node. Each source scatters its block
/// in p/k nearly equal parts over its own subcube of p/k nodes; then every node has one part, and all
/// parts are gathered everywhere.
///
/// \param sources  k = 2^j nodes, ascending: one in each of k subcubes of p/k nodes, as 0 .. k-1 are
/// \param mine     1 block at a source, none elsewhere
/// \param blocks   k blocks of that size; block i comes from the i-th source
///
/// Network  hypercube; one-port.
/// Cost     2 log p - log k steps: ts (2 log p - log k) + tw m (k + 1 - 2k/p). k = 1: Eq. 4.13.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, problem 4.18 and
///          sec. 4.7.1.
/// Throws   UsageError, before any message, unless network, sources and blocks are as above.
void k_broadcast_split(Node& node, std::span<const Rank> sources, ConstBlocks mine, Blocks blocks);

}  // namespace wormcube
