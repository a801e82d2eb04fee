// Broadcast in the fewest steps there can be, on tori that are powers of 2k+1, by free routes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/broadcast/itinerary.hpp"

namespace wormcube {

/// Broadcast: the root's message ends on every node.
///
/// With s = n/q, n/q^2, .., 1, q = 2k+1, and k steps each, all holders send 2k messages along
/// displacements that are multiples of s and, together, name every node of a q x .. x q torus once.
/// Sides of 2 q^p begin with steps of n/2.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  tori 5^p or 2 5^p squared, 7^p or 2 7^p cubed, (9^p)^4, p >= 1; all ports; any root.
/// Cost     ceil(log_{2k+1} N) steps of the whole message: the lower bound. Every node receives
///          once.
/// Links    free of contention. NOT dimension ordered: each message brings its legs in an order of
///          its own, which only a checked schedule shows to be free of deadlock.
/// Source   counts: Park et al. as quoted by Wang and Tseng, sec. 5; the displacements were found
///          by search and are not the authors'.
/// Throws   UsageError, before any message, for another network, or a root that is no node.
void broadcast_park(Node& node, Span message, Rank root, const Packets& packets = {});

void require_broadcast_park(const Topology& topology, Rank root, const Packets& packets = {});
Prediction predict_broadcast_park(const Topology& topology, const Packets& packets = {});

}  // namespace wormcube
