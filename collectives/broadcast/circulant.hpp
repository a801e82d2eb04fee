// Broadcast of packets in the fewest rounds, on any number of nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Broadcast of n packets in n - 1 + ceil(log2 p) rounds, the fewest there can be: in round k node r
/// sends one packet to r + s_k (modulo p, counted from the root), the s_k each half of the next.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
/// \param packets  n; 0: the best number for the default costs
///
/// Network  any, of any p; one-port.
/// Cost     (n - 1 + ceil(log2 p)) (ts + tw m / n); best about (sqrt((q - 1) ts) + sqrt(m tw))^2, q = ceil(log2 p).
/// Links    one message on complete networks; elsewhere every round is a circular shift.
/// Source   J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast,
///          All-Broadcast, Reduction and All-Reduction, arXiv 2312.11236 (ACM TOPC, doi
///          10.1145/3735139); arXiv 2205.10072; the tables as in MPICH's broadcast of that name.
/// Throws   UsageError, before any message, unless arguments and blocks are as above.
void broadcast_circulant(Node& node, Span message, Rank root, Rank packets = 0);

}  // namespace wormcube
