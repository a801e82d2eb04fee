// Reduce-scatter as p reductions at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks q combined, at node q: allgather_circulant backwards.
///
/// \param in       one block for each node, of any sizes
/// \param out      room for this node's result; may be its block of `in`
/// \param packets  n, into which each block is cut, whole elements each
///
/// Network  any, of any p; one-port. The operator must commute.
/// Cost     n - 1 + ceil(log2 p) rounds, (p - 1) m (tw + tc).
/// Links    one message on complete networks; elsewhere every round is a circular shift.
/// Source   J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast,
///          All-Broadcast, Reduction and All-Reduction, arXiv 2312.11236 (ACM TOPC, doi
///          10.1145/3735139); arXiv 2205.10072; the tables as in MPICH's broadcast of that name.
/// Throws   UsageError, before any message, unless arguments and blocks are as above.
void reduce_scatter_circulant(Node& node, const Reduction& reduction, ConstBlocks in, Span out,
                              Rank packets = 1);

}  // namespace wormcube
