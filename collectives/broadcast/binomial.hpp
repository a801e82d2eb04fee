// Broadcast along a binomial tree of cyclically renumbered ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Broadcast: the root's message ends on every node. Nodes are renumbered from the root on,
/// cyclically; recursive doubling, the highest bit first, leaves out the partners that are not
/// there.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  any, of any p; one-port.
/// Cost     ceil(log2 p) steps of the whole message: (ts + tw m) ceil(log2 p).
/// Links    free of contention on one line, ring or complete network.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.1, problem 4.1.
/// Throws   UsageError, before any message, unless the root is a node.
void broadcast_binomial(Node& node, Span message, Rank root);

}  // namespace wormcube
