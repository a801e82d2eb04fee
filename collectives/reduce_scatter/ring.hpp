// Reduce-scatter on a ring or a line, right for operators that do not commute.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/cost.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks q combined in the order of ranks, at node q.
///
/// What is for node q starts at node q + 1 and goes once round, each node adding its own. On the
/// way from p - 1 to 0 the order of ranks breaks off: from there on two partial results travel
/// together, of the ranks above q and of those below it, unless the operator commutes.
///
/// \param in   one block for each node, of any sizes
/// \param out  room for this node's result; may be its block of `in`
///
/// Network  one ring or line of any p; one-port. On a line the messages from the last node to the
///          first run back over the reverse links, which are idle otherwise.
/// Cost     p - 1 steps. Of a commutative operator one block in each: (ts + tw m + tc m)(p - 1).
///          Else two from the second on: ts (p - 1) + tw m (2p - 3) + tc m p, for p > 2.
/// Links    each carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.2.1,
///          Algorithm 4.5, Eq. 4.2. That adds in a cyclic order; the two partial results are ours.
/// Throws   UsageError, before any message, unless network and blocks are as above, these of whole
///          elements.
void reduce_scatter_ring(Node& node, const Reduction& reduction, ConstBlocks in, Span out);

/// What it costs on n nodes.
Prediction reduce_scatter_ring_cost(Rank n, bool commutative);

}  // namespace wormcube
