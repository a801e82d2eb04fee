// All-reduce as a reduction to one node and a broadcast.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/loads.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, on every node: reduce_halving to node 0, then
/// the same messages backwards.
///
/// \param mine    this node's block
/// \param result  room for the result; may be `mine`
///
/// Network  any, of any p; one-port.
/// Cost     c = ceil(log2 p): 2 (ts + tw m) c + tc m c.
/// Links    free of contention in one dimension and on hypercubes.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.3, problem 4.6
///          (ii).
/// Throws   UsageError, before any message, unless the result has the size
///          of the operand, in whole elements.
void allreduce_reduce_broadcast(Node& node, const Reduction& reduction, ConstSpan mine,
                                Span result);

/// Its messages, step by step.
std::vector<Messages> reduce_broadcast_messages(Rank p);

}  // namespace wormcube
