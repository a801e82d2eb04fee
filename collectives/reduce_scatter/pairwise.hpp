// Reduce-scatter by single blocks, straight to their nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks q combined in the order of ranks, at node q: in step t node r sends its block
/// for node r - t. What comes from the nodes above and from those below makes two partial results.
///
/// \param in   one block for each node, of any sizes
/// \param out  room for this node's result; may be its block of `in`
///
/// Network  any, of any p; one-port.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1) + tc m p, for p > 2.
/// Links    shift_link_load(t) messages share a link in step t: one on hypercubes and complete
///          networks.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.2 with the
///          permutations of 4.6.
/// Throws   UsageError, before any message, unless the blocks are as above, of whole elements.
void reduce_scatter_pairwise(Node& node, const Reduction& reduction, ConstBlocks in, Span out);

}  // namespace wormcube
