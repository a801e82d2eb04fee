// Total exchange by single blocks: shifts, packed into steps without contention as they come.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// \param out  p blocks; block q is for node q
/// \param in   p blocks; block q comes from node q
///
/// Shift t sends one block from each node r to node r+t. Its messages are packed into steps
/// first-fit: each, by ascending r, goes into the first step in which all links of its route are
/// free. The baseline that clever direct algorithms have to beat. Every node needs the whole plan;
/// it is computed once for a network and kept.
///
/// Network   products of lines and rings, up to 1024 nodes; one-port, full duplex.
/// Cost      as many start-ups of one block as the packing takes, no formula: 196 on mesh:8x8,
///           where the bisection bound is 128; 87 on mesh:6x6 (54).
/// Links     free of contention by construction.
/// Source    none; a baseline for scott-direct.
/// Throws    UsageError, before any message, for other networks or buffers that are not p blocks of
///           one size.
void alltoall_naive_direct(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
