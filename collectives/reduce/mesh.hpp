// Reduction to one node, dimension by dimension of a mesh.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, at the root: each line of the last dimension
/// reduces to the root's coordinate there, then the lines through these nodes of the dimension
/// before, and so on. In this order the ranks of each partial result are neighbours.
///
/// \param mine    this node's block
/// \param result  at the root: room for it, which may be `mine`; empty on the others
///
/// Network  any product of lines, rings, trees, complete graphs; any sides, any root; one-port.
/// Cost     sum of ceil(log2 side) steps of one block, one combination each.
/// Links    free of contention: each line works by itself.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.1.2 (the dual).
/// Throws   UsageError, before any message, unless the root is a node, the operands are whole
///          elements, and the result has the size of the root's.
void reduce_mesh(Node& node, const Reduction& reduction, ConstSpan mine, Span result, Rank root);

}  // namespace wormcube
