// All-reduce by recursive doubling.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/loads.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, on every node, and bit by bit the same on all:
/// partners across one bit of the label swap what they have and combine it the same way.
///
/// Unless p is a power of 2, neighbouring ranks 2i, 2i+1 first make one of the surplus pairs, of
/// which the lower goes on and tells the other in the end.
///
/// \param mine    this node's block
/// \param result  room for the result; may be `mine`
///
/// Network  any, of any p; one-port.
/// Cost     log p steps of one block, (ts + tw m + tc m) log p; if p is not a power of 2 it is
///          floor(log2 p) + 2 steps, one of which combines nothing.
/// Links    free of contention on hypercubes and complete networks; on a line 2^i messages share a
///          link in step i, tw m (p - 1) in all.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.3, Eq. 4.5; on a
///          ring problem 4.6.
/// Throws   UsageError, before any message, unless the result has the size
///          of the operand, in whole elements.
void allreduce_recursive_doubling(Node& node, const Reduction& reduction, ConstSpan mine,
                                  Span result);

/// Its messages, step by step.
std::vector<Messages> recursive_doubling_messages(Rank p);

}  // namespace wormcube
