// Broadcast by the best of what we have, for any torus.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/broadcast/squeeze.hpp"

namespace wormcube {

/// Broadcast: the root's message ends on every node.
///
/// Some of the first dimensions are peeled off, none or all; what is left is squeezed or, if it is a
/// square with sides of a power of two, quartered. The plan with the fewest steps is taken.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  any torus; all ports; any root.
/// Cost     the fewest steps among these plans, each of the whole message; never more than those of
///          wang-tseng, peel, squeeze and quad.
/// Links    free of contention, if the signs of the hops are honoured.
/// Source   ours.
/// Throws   UsageError, before any message, for another network, or a root that is no node.
void broadcast_plan(Node& node, Span message, Rank root, const Packets& packets = {});

void require_broadcast_plan(const Topology& topology, Rank root, const Packets& packets = {});
Prediction predict_broadcast_plan(const Topology& topology, const Packets& packets = {});

struct TorusPlan {
  int peeled_to = 0;  // axes from this one on are peeled; the others:
  bool quarters = false;
  VirtualTorus squeezed;
  int steps = 0;
};
/// The plan with the fewest steps; of equals the one that peels most.
TorusPlan plan_torus_broadcast(std::span<const Rank> sizes);

}  // namespace wormcube
