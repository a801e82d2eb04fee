// Broadcast by peeling: one dimension after the other, with all ports, no alignment.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/broadcast/itinerary.hpp"

namespace wormcube {

/// Broadcast: the root's message ends on every node.
///
/// Along the first dimension a message goes out by every port: one hop along another dimension, if
/// that has 3 nodes or more, and then straight. That leaves one informed node in every hyperplane,
/// which goes on inside it.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  any torus; all ports; any root.
/// Cost     sum over dimensions j = 1, 2, .. (the last one first) of ceil(log_{2w+1} n_j) steps of
///          the whole message, with w = 1 + the dimensions before it of 3 nodes or more. Every node
///          receives once.
/// Links    free of contention; no hop is longer than half a ring, none of half a ring goes '-'.
/// Source   ours, after the stages of Wang and Tseng.
/// Throws   UsageError, before any message, for another network, or a root that is no node.
void broadcast_peel(Node& node, Span message, Rank root, const Packets& packets = {});

void require_broadcast_peel(const Topology& topology, Rank root, const Packets& packets = {});
Prediction predict_broadcast_peel(const Topology& topology, const Packets& packets = {});

/// The phases along the last axes, down to axis `lowest`.
void peel(Itinerary& itinerary, int lowest);
int peel_steps(std::span<const Rank> sizes, int lowest);

}  // namespace wormcube
