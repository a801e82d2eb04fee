// Total exchange on a square mesh: halves exchange with halves, rows and columns at the same time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// \param out  p blocks; block q is for node q
/// \param in   p blocks; block q comes from node q
///
/// Level k = d .. 1 divides squares of side 2^k into quadrants. Each node exchanges half of its
/// blocks across the middle of its row and half across the middle of its column. Nodes are coloured
/// like a chess board: one colour takes its row first, the other its column, so that both
/// directions are busy. Nodes that would share a link take turns, 2^(k-2) of them. On the last
/// level squares are 2 x 2: all nodes take their row, then their column.
///
/// Network   mesh 2^d x 2^d; one-port, full duplex.
/// Cost      2^d start-ups of 2^(2d-1) blocks each; (d-1) 4^d blocks rearranged.
/// Links     in each line of a square one pair of nodes meets at a time.
/// Source    N. S. Sundar, D. N. Jayasimha, D. K. Panda, P. Sadayappan, Complete Exchange in 2D
///           Meshes, SHPCC 1994. Reconstructed from its row in Suh, Shin, Yalamanchili, Table 2,
///           which it meets exactly; the paper itself was not available.
/// Throws    UsageError, before any message, for other networks or buffers that are not p blocks of
///           one size.
void alltoall_sundar_cyclic(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
