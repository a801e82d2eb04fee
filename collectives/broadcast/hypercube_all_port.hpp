// Broadcast on a hypercube with all links at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Broadcast: part j of d of the root's message goes along a binomial tree that crosses the
/// dimensions j, j+1, .., j-1 (mod d).
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  hypercube of dimension d; all-port.
/// Cost     d steps of 1/d of the message: ts d + tw m.
/// Links    the trees cross different dimensions in each step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.7.2.
/// Throws   UsageError, before any message, on other networks, and unless the root is a node.
void broadcast_hypercube_all_port(Node& node, Span message, Rank root);

}  // namespace wormcube
