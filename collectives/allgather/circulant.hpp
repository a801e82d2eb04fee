// All-gather as p broadcasts at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Every node's block to every node: the broadcasts of broadcast_circulant from all nodes at once, one
/// message in a round with a part of each block.
///
/// \param mine     1 block; it may lie in its place in \p all
/// \param all      p blocks; block q is node q's. They may be uneven (allgatherv)
/// \param packets  n, into which each block is cut
///
/// Network  any, of any p; one-port.
/// Cost     n - 1 + ceil(log2 p) rounds, (p - 1) m tw. More packets than one make rounds of uneven blocks more
///          alike.
/// Links    one message on complete networks; elsewhere every round is a circular shift.
/// Source   J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast,
///          All-Broadcast, Reduction and All-Reduction, arXiv 2312.11236 (ACM TOPC, doi
///          10.1145/3735139); arXiv 2205.10072; the tables as in MPICH's broadcast of that name.
/// Throws   UsageError, before any message, unless arguments and blocks are as above.
void allgather_circulant(Node& node, ConstBlocks mine, Blocks all, Rank packets = 1);

}  // namespace wormcube
