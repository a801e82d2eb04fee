// Broadcast by quartering, on tori with sides of a power of two.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/broadcast/itinerary.hpp"

namespace wormcube {

/// Broadcast: the root's message ends on every node.
///
/// A stand-in for Tsai and McKinley's extended dominating nodes, whose patterns we do not have: its
/// steps are theirs in two dimensions, and theirs or one fewer in three. With s = n/2, n/4, .., 1
/// every holder sends to the three other corners of a square with side s. In three dimensions the
/// first one is served before, on all ports, as by peel.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  tori 2^d x 2^d and z x 2^d x 2^d, d >= 2; all ports; any root.
/// Cost     d, or d + ceil(log_7 z), steps of the whole message. Every node receives once.
/// Links    free of contention, if the signs of the hops are honoured.
/// Source   construction ours; counts: Tsai and McKinley as quoted by Wang and Tseng, sec. 5.
/// Throws   UsageError, before any message, for another network, or a root that is no node.
void broadcast_quad(Node& node, Span message, Rank root, const Packets& packets = {});

void require_broadcast_quad(const Topology& topology, Rank root, const Packets& packets = {});
Prediction predict_broadcast_quad(const Topology& topology, const Packets& packets = {});

/// Whether the first two axes are a square that can be quartered.
bool can_quarter(std::span<const Rank> sizes);
/// The phase along the first two axes.
void quarter(Itinerary& itinerary);
int quarter_steps(std::span<const Rank> sizes);

}  // namespace wormcube
