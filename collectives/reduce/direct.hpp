// Reduction to one node by single messages: the baseline.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, at the root: each node sends its own, first the
/// lower ones downwards, then the higher ones upwards.
///
/// \param mine    this node's block
/// \param result  at the root: room for it, which may be `mine`; empty on the others
///
/// Network  any; one-port.
/// Cost     p - 1 steps of one block: (ts + tw m + tc m)(p - 1).
/// Links    one message at a time.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.1.1.
/// Throws   UsageError, before any message, unless the root is a node, the operands are whole
///          elements, and the result has the size of the root's.
void reduce_direct(Node& node, const Reduction& reduction, ConstSpan mine, Span result, Rank root);

}  // namespace wormcube
