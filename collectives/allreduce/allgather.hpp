// All-reduce as an all-gather and a local reduction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, on every node: each node gets all blocks by the
/// ring all-gather and combines them from left to right, so that all have the same bits.
///
/// \param mine    this node's block
/// \param result  room for the result; may be `mine`
///
/// Network  one ring or line of any p; one-port.
/// Cost     (ts + tw m + tc m)(p - 1), and p blocks of memory.
/// Links    each carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.3, problem 4.6
///          (i).
/// Throws   UsageError, before any message, unless the network is as above and the result has the
///          size of the operand, in whole elements.
void allreduce_allgather(Node& node, const Reduction& reduction, ConstSpan mine, Span result);

}  // namespace wormcube
