// Total exchange on a ring with both links at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r. Bundles travel both ways round at the
/// same time, every block the shorter way; of the block for the node half way round, one half each.
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  one ring of any p; all-port.
/// Cost     floor(p/2) steps; tw m p^2/8 for even p, tw m (p^2 - 1)/8 for odd p, which all links
///          together allow at the least. (A ring of 2 is one cable: 1 block.)
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.5.1 and 4.7.2.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_ring_all_port(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
