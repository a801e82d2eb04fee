// Broadcast by interval halving: recursive doubling for any number of nodes and any root.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Broadcast: the root's message ends on every node.
///
/// In each interval of ranks one node has the message. It sends it to the first node of the half
/// that it is not in; then both halves go on by themselves.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  any, of any p; one-port.
/// Cost     ceil(log2 p) steps of the whole message: (ts + tw m) ceil(log2 p).
/// Links    free of contention on one line, ring, tree or complete network, and on products of
///          these with powers of two for sizes (hypercubes among them): the halves of an interval
///          go on over links of their own. On a ring they do because only the first message may be
///          as long as half of it.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.1.1,
///          Eq. 4.1; any p: problem 4.1.
/// Throws   UsageError, before any message, unless the root is a node.
void broadcast_halving(Node& node, Span message, Rank root);

}  // namespace wormcube
