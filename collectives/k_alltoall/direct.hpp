// k-to-all personalized communication on any network, from any sources.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

#include <span>

namespace wormcube {

/// k-to-all personalized: block q of each of k source nodes ends at node q. In step i each source
/// sends to the node i ranks on.
///
/// \param sources  k different nodes, ascending
/// \param mine     p blocks at a source, none elsewhere
/// \param blocks   k blocks; block i comes from the i-th source
///
/// Network  any, of any p, sources anywhere; one-port.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1) where links are not shared; nothing is
///          rearranged.
/// Links    every step is part of a circular shift: free of contention on hypercubes and complete
///          networks, and anywhere from one source.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, problem 4.20, for any
///          sources; sec. 4.5.3 and 4.6 (shifts).
/// Throws   UsageError, before any message, unless sources and blocks are as above.
void k_alltoall_direct(Node& node, std::span<const Rank> sources, ConstBlocks mine, Blocks blocks);

}  // namespace wormcube
