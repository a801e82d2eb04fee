// All-reduce in parts: reduce-scatter, then all-gather.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

enum class PartsPattern : std::uint8_t { doubling, ring };

/// All nodes' blocks combined in the order of ranks, on every node, and bit by bit the same on all:
/// each node combines one part of the block, and all gather the parts. Parts are whole elements,
/// some empty if there are few.
///
/// \param mine    this node's block
/// \param result  room for the result; may be `mine`
///
/// Network  doubling: any, of any p; ring: one ring or line; one-port.
/// Cost     doubling, 2^d nodes: 2 (ts log p + tw m (p-1)/p) + tc m (p-1)/p.
///          ring, commutative: 2 (p-1)(ts + tw m/p) + tc m (p-1)/p. Operators that do not commute
///          take reduce_scatter_bruck's and reduce_scatter_ring's second partial results.
/// Links    ring: each carries one message in a step; doubling: on hypercubes.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.7.1, Eq. 4.14,
///          which names the two operations wrongly: all-to-all reduction, all-to-all broadcast.
/// Throws   UsageError, before any message, unless the network is as above and the result has the
///          size of the operand, in whole elements.
void allreduce_by_parts(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                        PartsPattern pattern);

}  // namespace wormcube
