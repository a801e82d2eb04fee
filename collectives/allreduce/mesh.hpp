// All-reduce dimension by dimension of a mesh.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, on every node, and bit by bit the same on all:
/// recursive doubling in all lines of the last dimension, then of the one before, and so on.
///
/// \param mine    this node's block
/// \param result  room for the result; may be `mine`
///
/// Network  any, of any sides; one-port.
/// Cost     the sum of recursive doubling's over the sides.
/// Links    half a side shares a link at most: of a mesh of s x s, tw m 2(s - 1) in all.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.3 on the
///          networks of 4.2.2.
/// Throws   UsageError, before any message, unless the result has the size
///          of the operand, in whole elements.
void allreduce_mesh(Node& node, const Reduction& reduction, ConstSpan mine, Span result);

}  // namespace wormcube
