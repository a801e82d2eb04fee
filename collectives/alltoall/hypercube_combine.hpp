// Total exchange in log p steps: one label bit after the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r. In step b every node hands to the node
/// whose label differs in bit b all that it holds for nodes with that bit.
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  any of p = 2^d nodes; one-port.
/// Cost     d steps of p/2 blocks; p blocks are rearranged before each:
///          (ts + tw m p/2) log p + tr m p log p where links are not shared.
/// Links    free of contention on hypercubes and complete networks. On an open mesh of s x s bit b of
///          a coordinate loads a link with 2^b messages: ts log p + tw m p (s - 1).
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.5.3,
///          Eq. 4.9; problems 4.21 (rearrangement), 4.24 (meshes).
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_hypercube_combine(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
