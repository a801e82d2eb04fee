// Reduction of packets in the fewest rounds, on any number of nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' vectors combined, at the root: broadcast_circulant of n packets backwards.
///
/// \param mine     this node's vector
/// \param result   at the root: room for it, which may be `mine`; empty on the others
/// \param packets  n, whole elements each; 0: the best number for the default costs
///
/// Network  any, of any p; one-port. The operator must commute.
/// Cost     (n - 1 + ceil(log2 p)) (ts + (tw + tc) m / n).
/// Links    one message on complete networks; elsewhere every round is a circular shift.
/// Source   J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast,
///          All-Broadcast, Reduction and All-Reduction, arXiv 2312.11236 (ACM TOPC, doi
///          10.1145/3735139); arXiv 2205.10072; the tables as in MPICH's broadcast of that name.
/// Throws   UsageError, before any message, unless arguments and blocks are as above.
void reduce_circulant(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                      Rank root, Rank packets = 0);

}  // namespace wormcube
