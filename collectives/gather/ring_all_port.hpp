// Gather both ways round all rings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/ring_all_port.hpp"

namespace wormcube {

/// Every node's block to the root: scatter_ring_all_port backwards.
///
/// \param mine  this node's block
/// \param in    at the root room for p blocks of that size; not looked at elsewhere
///
/// Network  ring or torus of any sides; all-port.
/// Cost     that of the scatter.
/// Links    each link carries one message in a step.
/// Source   N. Jain, Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus
///          interconnects, ICS 2010 (abstract); the text is ours after it.
/// Throws   UsageError, before any message, unless network, root and blocks are as above.
void gather_ring_all_port(Node& node, ConstSpan mine, Blocks in, Rank root, HalfWay half);

}  // namespace wormcube
