// Total exchange among 2^d nodes: every pair of nodes meets once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r.
///
/// \param out  p blocks; block q is for node q. They may be uneven (alltoallv)
/// \param in   p blocks; block q comes from node q and has the size that node q sends
///
/// Network  any of p = 2^d nodes; one-port.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1) where links are not shared, the least
///          possible transmission; nothing is rearranged.
/// Links    on a hypercube with e-cube routing each link carries one message in a step: all messages
///          of step t cross the same dimensions, in the same order. On a line or tree a link carries
///          2^floor(log t) of them: tw m (p^2 - 1)/3. On an open mesh of s x s each coordinate does
///          so: tw m 3(p^1.5 - 1)/7.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.5.3,
///          Algorithm 4.10, Eq. 4.10; problem 4.24 (poorer networks).
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_hypercube_pairwise(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
