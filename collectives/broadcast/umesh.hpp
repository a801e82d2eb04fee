// Broadcast by halving the chain of nodes in dimension order: one port, no contention, any shape.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/broadcast/itinerary.hpp"

namespace wormcube {

/// Broadcast: the root's message ends on every node.
///
/// The nodes are put in a chain, by the coordinate that messages travel first, then the next. In
/// each half of an interval of the chain one node has the message; the halves go on apart. Rings
/// are cut at the root and used as lines, so the hops carry signs.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  any of lines and rings; one-port; any root.
/// Cost     ceil(log2 p) steps of the whole message. Every node receives once.
/// Links    free of contention.
/// Source   McKinley, Xu, Esfahanian, Ni, Unicast-Based Multicast Communication in Wormhole-Routed
///          Networks, IEEE Trans. Parallel Distrib. Syst. 5(12), 1994: U-mesh.
/// Throws   UsageError, before any message, for another network, or a root that is no node.
void broadcast_umesh(Node& node, Span message, Rank root, const Packets& packets = {});

void require_broadcast_umesh(const Topology& topology, Rank root, const Packets& packets = {});
Prediction predict_broadcast_umesh(const Topology& topology, const Packets& packets = {});

}  // namespace wormcube
