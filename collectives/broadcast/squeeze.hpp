// Broadcast by squeezing: Wang and Tseng's on a coarser torus, then inside its cells.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/broadcast/itinerary.hpp"

namespace wormcube {

/// Broadcast: the root's message ends on every node.
///
/// A virtual torus v x .. x v x cv is laid evenly over the real one, its links runs of real links;
/// it is served by wang-tseng. Then every virtual node informs its cell, one dimension at a time.
/// v and c are those that take the fewest steps.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  any torus; all ports; any root.
/// Cost     wang-tseng's steps for v, c, and sum_j ceil(log_3 ceil(n_j / v_j)), each of the whole
///          message. Every node receives once.
/// Links    free of contention, if the signs of the hops are honoured.
/// Source   ours.
/// Throws   UsageError, before any message, for another network, or a root that is no node.
void broadcast_squeeze(Node& node, Span message, Rank root, const Packets& packets = {});

void require_broadcast_squeeze(const Topology& topology, Rank root, const Packets& packets = {});
Prediction predict_broadcast_squeeze(const Topology& topology, const Packets& packets = {});

/// The virtual torus for these axes that takes the fewest steps.
struct VirtualTorus {
  std::vector<Rank> sizes;
  int steps = 0;  // the cells' included
};
VirtualTorus best_virtual_torus(std::span<const Rank> sizes);

/// The phases along the first axes, as many as the virtual torus has.
void squeeze(Itinerary& itinerary, const VirtualTorus& virtual_torus);

}  // namespace wormcube
