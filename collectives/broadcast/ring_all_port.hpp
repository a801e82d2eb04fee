// Broadcast of long messages both ways round all rings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/ring_all_port.hpp"

namespace wormcube {

/// Broadcast of a long message: p parts of it are scattered, then gathered by all, both by the
/// ring-all-port algorithms of these.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  ring or torus of any sides; all-port.
/// Cost     sides n: 2 D floor(n/2) steps; (p - 1)/(p D) messages if n is odd or half=split.
/// Links    each link carries one message in a step.
/// Source   N. Jain, Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus
///          interconnects, ICS 2010 (abstract); the text is ours after it.
/// Throws   UsageError, before any message, unless network and root are as above.
void broadcast_ring_all_port(Node& node, Span message, Rank root, HalfWay half);

}  // namespace wormcube
