// Reduction to one node in parts: reduce-scatter, then gather.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/loads.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, at the root: each node combines one part of the
/// block, then the root gathers the parts. Parts are whole elements, some empty if there are few.
///
/// \param mine    this node's block
/// \param result  at the root: room for it, which may be `mine`; empty on the others
///
/// Network  any, of any p; one-port. Power of 2: reduce_scatter_hypercube; else _bruck.
/// Cost     2^d nodes: 2 (ts log p + tw m (p-1)/p) + tc m (p-1)/p.
/// Links    free of contention on hypercubes.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.7.1, problems
///          4.17 and 4.19.
/// Throws   UsageError, before any message, unless the root is a node, the operands are whole
///          elements, and the result has the size of the root's.
void reduce_by_parts(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                     Rank root);

/// The reduce-scatter in ceil(log2 p) steps that this network admits.
void reduce_scatter_parts(Node& node, const Reduction& reduction, ConstBlocks in, Span out);
/// Its messages and costs, of parts of 1/p block.
std::vector<Messages> reduce_scatter_parts_messages(Rank p, bool commutative);
Prediction reduce_scatter_parts_cost(Rank p, bool commutative);

}  // namespace wormcube
