// Broadcast by store and forward.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Broadcast among nearest neighbours: the root's message ends on every node. Dimension by
/// dimension, from the last to the first, it goes both ways along each line, to the farther end
/// first.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  lines, rings, meshes and tori of any sizes; one-port.
/// Cost     in each dimension, steps of the whole message: ceil(n/2) on a ring; n - 1 from the end
///          of a line, from inside as many as to the farther end (one more from the middle).
/// Links    every message takes one hop, on a link of its own.
/// Source   Grama, Gupta, Karypis, Kumar, problem 4.13.
/// Throws   UsageError, before any message, on other networks, and unless the root is a node.
void broadcast_neighbours(Node& node, Span message, Rank root);

}  // namespace wormcube
