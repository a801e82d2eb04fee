// Ternary steps: both neighbours at 1, 3, 9, .. hops at once, so that a node's reach triples.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/kit/torus_handover.hpp"

#include <vector>

namespace wormcube {

/// The least K with 3^K >= n.
int log3_ceiling(Rank n);

/// A ring of any n: hops H_k = 3^k, the last ceil((n - 3^(L-1))/2), L = ceil(log3 n). A
/// displacement that is a sum of signed hops starts with the lowest of them, in the sum where that
/// is highest; between both signs the one with fewer displacements so far is used, else '+'.
/// \param one_port  '+' and '-' in a step each
RingRule ternary_rule(Rank n, bool one_port = false);

/// All ports: a rotated copy for each wide dimension.
std::vector<TorusCopy> ternary_copies(const Topology& topology, Ports ports);
Rank ternary_parts(const Topology& topology, Ports ports);

}  // namespace wormcube
