// All-gather on any number of nodes in the fewest steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// All-gather: every node's block to every node. In step t node r sends what it has gathered, the
/// blocks of r, r+1, .., to node r - 2^t (all modulo p): twice as many in each step.
///
/// \param mine  1 block; it may lie in its place in \p all
/// \param all   p blocks; block q is node q's. They may be uneven (allgatherv)
///
/// Network  any, of any p; one-port.
/// Cost     ceil(log2 p) steps of min(2^t, p - 2^t) blocks: ts ceil(log p) + tw m (p - 1) where links
///          are not shared; nothing is rearranged, as messages are gathered from two places.
/// Links    every step is a circular shift: free of contention on hypercubes and complete networks.
/// Source   J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for
///          All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997;
///          for Eq. 4.4 of Grama, Gupta, Karypis, Kumar where p is no power of 2.
/// Throws   UsageError, before any message, unless the blocks are as above.
void allgather_bruck(Node& node, ConstBlocks mine, Blocks all);

}  // namespace wormcube
