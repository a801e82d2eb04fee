// Reduction to one node, dimension by dimension of the labels: Algorithm 4.3.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, at the root: in the step of bit b, lowest
/// first, nodes that differ from the root there send what they have to the partner across.
///
/// The textbook relabels by XOR with the root and combines by the new labels, which turns the order
/// round at all roots but one; here the node with the lower rank of the two is on the left.
///
/// \param mine    this node's block
/// \param result  at the root: room for it, which may be `mine`; empty on the others
///
/// Network  any; any p with root 0 (partners beyond p are left out), p = 2^d with any root; one-port.
/// Cost     c = ceil(log2 p) steps of one block, one combination each: (ts + tw m + tc m) c.
/// Links    free of contention on hypercubes, whatever the root; on a line 2^i messages share one in
///          step i.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.1.3, 4.1.5,
///          Algorithm 4.3.
/// Throws   UsageError, before any message, unless the root is a node (node 0, if p is no power of
///          2), the operands are whole elements, and the result has the size of the root's.
void reduce_hypercube(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                      Rank root);

}  // namespace wormcube
