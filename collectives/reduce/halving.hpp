// Reduction to one node by interval halving: any number of nodes, any root.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, at the root.
///
/// The dual of broadcast_halving: intervals of ranks are halved until they are single nodes; then,
/// smallest intervals first, the first node of one half sends what the half has combined to the
/// node of the other half that is nearer to the root.
///
/// \param mine    this node's block
/// \param result  at the root: room for it, which may be `mine`; empty on the others
///
/// Network  any, of any p; one-port.
/// Cost     c = ceil(log2 p) steps of one block, one combination each: (ts + tw m + tc m) c.
/// Links    free of contention on one line, ring, tree or complete network, and on hypercubes.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.1.1, Fig. 4.3,
///          Algorithm 4.3. The order of ranks for any operator and root is ours.
/// Throws   UsageError, before any message, unless the root is a node, the operands are whole
///          elements, and the result has the size of the root's.
void reduce_halving(Node& node, const Reduction& reduction, ConstSpan mine, Span result, Rank root);

}  // namespace wormcube
