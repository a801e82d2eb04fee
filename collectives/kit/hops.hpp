// The longest routes of common patterns, for Prediction::hops: lengths of the router's routes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <optional>
#include <span>

namespace wormcube {

/// Links of the network's route. The network must be routable.
int route_hops(const Topology& topology, Rank from, Rank to);

/// Sum over all other nodes of the route to, or from, this one; nothing if that takes long.
std::optional<double> hops_to_all(const Topology& topology, Rank root);
std::optional<double> hops_from_all(const Topology& topology, Rank root);

/// Sum over these offsets of the longest route from a node r to r + offset (mod p); nothing for
/// large trees and graphs.
std::optional<double> hops_of_shifts(const Topology& topology, std::span<const Rank> offsets);
/// By 1 .. p - 1, and by 1, 2, 4, .. below p.
std::optional<double> hops_of_all_shifts(const Topology& topology);
std::optional<double> hops_of_doubling(const Topology& topology);
/// The same from a node r to r xor t, of 2^d nodes in each dimension, or of one dimension.
std::optional<double> hops_of_exchanges(const Topology& topology, std::span<const Rank> masks);
std::optional<double> hops_of_all_exchanges(const Topology& topology);
std::optional<double> hops_of_bits(const Topology& topology);

/// Sum over the swing of all dimensions, rings of 2^d nodes: 1, 1, 3, 5, 11, .. in each.
double hops_of_swing(const Topology& topology);

/// Links of the longest message when all nodes of a line or ring send to the next one, and the last
/// to the first.
int hops_around(const Graph& graph);
/// Sum over the dimensions of n - 1 such steps.
double hops_of_rounds(const Topology& topology);

}  // namespace wormcube
