// Reduce-scatter by halving the labels' bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/loads.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks q combined in the order of ranks, at node q: in the step of bit i, lowest
/// first, partners that differ there swap what they have for all nodes on the other's side. Before
/// it a node holds the blocks for the nodes that agree with it below bit i, each combined over the
/// 2^i nodes that agree with it from bit i on: neighbours.
///
/// \param in   one block for each node, of any sizes
/// \param out  room for this node's result; may be its block of `in`
///
/// Network  any of p = 2^d nodes; one-port.
/// Cost     d steps of p/2, p/4, .., 1 blocks: ts log p + (tw + tc) m (p - 1).
/// Links    free of contention on hypercubes; on a line 2^i messages share one in step i.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.2.3,
///          Algorithm 4.8: with contiguous halves, highest bit first, which combines groups that
///          are no neighbours; strided halves, lowest bit first, keep the order.
/// Throws   UsageError, before any message, unless network and blocks are as above, these of whole
///          elements.
void reduce_scatter_hypercube(Node& node, const Reduction& reduction, ConstBlocks in, Span out);

/// Its messages on p nodes, step by step, of blocks so large.
std::vector<Messages> reduce_scatter_hypercube_messages(Rank p, double blocks = 1);

}  // namespace wormcube
