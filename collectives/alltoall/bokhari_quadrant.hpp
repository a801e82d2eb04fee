// Total exchange on a square mesh: quadrants exchange with quadrants, and divide.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// \param out  p blocks; block q is for node q
/// \param in   p blocks; block q comes from node q
///
/// Level k = d .. 1 divides squares of side 2^k into quadrants. Each node meets the nodes at its
/// place of the other three quadrants, one after the other, and hands over a quarter of its blocks:
/// all that is for their quadrant. Nodes that would share a link take turns, 2^(k-1) of them.
///
/// Network   mesh 2^d x 2^d; one-port, full duplex.
/// Cost      3 (2^d - 1) start-ups of 4^(d-1) blocks each; (d-1) 4^d blocks rearranged.
/// Links     in each line of a square one pair of nodes meets at a time; pairs that meet across the
///           diagonal leave by different rows and arrive by different columns.
/// Source    S. H. Bokhari, H. Berryman, Complete Exchange on a Circuit Switched Mesh, SHPCC 1992.
///           Reconstructed from its row in Suh, Shin, Yalamanchili, Table 2, which it meets
///           exactly; the paper itself was not available.
/// Throws    UsageError, before any message, for other networks or buffers that are not p blocks of
///           one size.
void alltoall_bokhari_quadrant(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
