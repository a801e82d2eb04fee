// Swing: partners at the distances 1, -1, 3, -5, 11, .. round a ring.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/needs.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"

#include <vector>

namespace wormcube {

/// rho(s) = (1 - (-2)^(s+1)) / 3: the hops of step s from an even coordinate; from an odd one
/// -rho(s).
int swing_hops(int step);

/// The step in which a ring of n nodes, n even, passes on the data for displacement x: the last
/// with which x can begin, so that a partial result leaves after everything that joins it.
/// \param mirrored  all signs changed
RingRule swing_rule(Rank n, bool mirrored = false);

/// One port: one copy. All ports: 2 k copies on k wide dimensions, rotated, each also mirrored.
std::vector<TorusCopy> swing_copies(const Topology& topology, Ports ports);

namespace needs {
/// Rings of an even number of nodes; with all ports no cables.
Need swing_rings(Ports ports);
}  // namespace needs

}  // namespace wormcube
