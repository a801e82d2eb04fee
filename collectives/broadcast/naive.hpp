// Broadcast from one node to each other in turn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Broadcast: the root's message ends on every node, which gets it from the root itself.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  any; one-port.
/// Cost     p - 1 steps of the whole message: (ts + tw m) (p - 1).
/// Links    one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.1: what not to do.
/// Throws   UsageError, before any message, unless the root is a node.
void broadcast_naive(Node& node, Span message, Rank root);

}  // namespace wormcube
