// k-to-all personalized communication on a hypercube: scatter, then exchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

#include <span>

namespace wormcube {

/// k-to-all personalized: block q of each of k source nodes ends at node q. Each source scatters, over
/// its own subcube of p/k nodes, bundles of k blocks: what is for the node and its k - 1 counterparts
/// in the other subcubes. Then the k counterparts exchange, pair by pair.
///
/// \param sources  k = 2^j nodes, ascending: one in each of k subcubes of p/k nodes, as 0 .. k-1 are
/// \param mine     p blocks at a source, none elsewhere
/// \param blocks   k blocks of that size; block i comes from the i-th source
///
/// Network  hypercube; one-port.
/// Cost     log(p/k) + k - 1 steps: ts (log(p/k) + k - 1) + tw m (p - 1). k = 1: scatter, Eq. 4.6;
///          k = p: Eq. 4.10.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, problem 4.20 (which
///          does not say that the sources must lie so).
/// Throws   UsageError, before any message, unless network, sources and blocks are as above.
void k_alltoall_hypercube(Node& node, std::span<const Rank> sources, ConstBlocks mine,
                          Blocks blocks);

}  // namespace wormcube
