// All-gather on a mesh or a torus: the ring algorithm in one dimension after the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// All-gather: every node's block to every node. In each dimension, the last first, what a node has
/// gathered so far travels once round its line or ring.
///
/// \param mine  1 block; it may lie in its place in \p all
/// \param all   p blocks; block q is node q's. They may be uneven (allgatherv)
///
/// Network  any mesh or torus, of any number of dimensions and any sizes n_d; one-port.
/// Cost     sum(n_d - 1) steps, p - 1 blocks: ts sum(n_d - 1) + tw m (p - 1); nothing is rearranged,
///          as what is gathered are neighbouring blocks.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.2.2,
///          Algorithm 4.6, Eq. 4.3; problem 4.13 (more dimensions).
/// Throws   UsageError, before any message, unless network and blocks are as above.
void allgather_mesh(Node& node, ConstBlocks mine, Blocks all);

}  // namespace wormcube
