// All-reduce on a ring or a line that combines what passes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, on every node, and bit by bit the same on all:
/// every block goes once round, as in the ring all-gather, and each node combines what comes.
///
/// Node r sees r, r+1, .., p-1, 0, .., r-1. To have the same bits all must bracket in one way
/// wherever they begin: blocks of 2^k ranks that start at a multiple of 2^k are combined of their
/// halves (what p cuts off left out), and halves wait for each other. So about 2 log p partial
/// results wait at a time, instead of p blocks.
///
/// \param mine    this node's block
/// \param result  room for the result; may be `mine`
///
/// Network  one ring or line of any p; one-port.
/// Cost     (ts + tw m)(p - 1); each node combines p - 1 blocks, but not all in the same steps.
/// Links    each carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.3, problem 4.6
///          (iii), read as the ring's pattern. The bracketing is ours.
/// Throws   UsageError, before any message, unless the network is as above and the result has the
///          size of the operand, in whole elements.
void allreduce_ring(Node& node, const Reduction& reduction, ConstSpan mine, Span result);

}  // namespace wormcube
