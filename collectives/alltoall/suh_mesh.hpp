// Total exchange on a mesh of any size: rings of every second node, then exchanges in small cells.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/mesh_order.hpp"
#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// Cells are 2 x .. x 2 nodes. Nodes whose coordinates have the same parities form a group, one
/// node of each cell. In the ring phases blocks travel along the rings of their group, one
/// dimension after the other; each node on the way keeps those for its own column of cells. The
/// groups take the dimensions in orders that keep the two rings of a line apart (see ring_turns).
/// Then all blocks are in their cell, and its members exchange, one dimension after the other.
///
/// Odd sizes (ours): the last coordinate is a cell of its own, which only even nodes reach. Odd
/// nodes first hand what is for it to their even partners, in one more step per odd size.
///
/// Network   mesh of any dimensions and sizes (a line, a hypercube); one-port, full duplex.
/// Cost      all sizes even, a_1 the longest of n >= 2 and N nodes: n a_1 / 2 start-ups, n a_1 N /
///           4 blocks, n N blocks rearranged; R x C: max(R,C), RC max(R,C) / 2, 2RC. A line of a:
///           a - 1 start-ups. The orders `parity` and `overlap` (ours) need fewer steps if sizes
///           differ. All cases: mesh_startups, mesh_transmission, mesh_rearranged.
/// Space     N blocks, sizes rounded up to even, beside input and output.
/// Links     each message stays in one line, where one ring is active: each link once, the closing
///           message on the links of the other direction. In folded rings (ours) no message goes
///           further than 4 links.
/// Source    Y.-J. Suh, K. G. Shin, S. Yalamanchili, Complete Exchange in General Multidimensional
///           Mesh Networks, sections 3 and 4; corrected: phase 3 step 2, the index of section 3.3.
/// Throws    UsageError, before any message, unless all dimensions are lines and the buffers p
///           blocks of one size.
void alltoall_suh_mesh(Node& node, ConstBlocks out, Blocks in, MeshOrder order = MeshOrder::paper,
                       MeshRing ring = MeshRing::plus);

}  // namespace wormcube
