// Broadcast in packets along edge-disjoint spanning binomial trees of a hypercube.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Broadcast: the root's message, cut into packets, ends on every node. In step t all messages
/// cross dimension t mod d; the root sends packet t. All nodes with this bit set pass on what the
/// root sent d steps ago; nobody waits for a packet that comes later.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
/// \param packets  N, at most 2^20; 0: the best number by CostModel's constants,
///                 sqrt(tw m d / ts) rounded, at least 1
///
/// Network  hypercube of dimension d; one-port.
/// Cost     N + d steps of m / N (N if d is 1): (N + d) (ts + tw m / N); with the best N
///          (sqrt(ts d) + sqrt(tw m))^2.
/// Links    a step crosses one dimension.
/// Source   S. L. Johnsson, C.-T. Ho, Optimum broadcasting and personalized communication in
///          hypercubes, IEEE Trans. Computers 38(9), 1989; Grama, Gupta, Karypis, Kumar, sec. 4.9.
/// Throws   UsageError, before any message, on other networks, and unless the root is a node and
///          the number of packets as above.
void broadcast_pipelined(Node& node, Span message, Rank root, Rank packets = 0);

}  // namespace wormcube
