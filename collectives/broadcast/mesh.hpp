// Broadcast dimension by dimension.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Broadcast: the root's message ends on every node. Along the root's row first, then along all
/// columns at once, and so on from the last dimension to the first; each line by interval halving.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  any product; sides of any length; one-port.
/// Cost     sum over dimensions of ceil(log2 n_d) steps of the whole message; on a square mesh of
///          2^d nodes (ts + tw m) log2 p.
/// Links    free of contention where halving is in every dimension: lines, rings, trees, complete.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.1.2, Fig. 4.5.
/// Throws   UsageError, before any message, unless the root is a node.
void broadcast_mesh(Node& node, Span message, Rank root);

}  // namespace wormcube
