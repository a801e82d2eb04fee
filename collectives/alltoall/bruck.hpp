// Total exchange on any number of nodes in the fewest steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r. A block for the node i ranks on travels
/// 2^t ranks in each step t whose bit is set in i.
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  any, of any p; one-port.
/// Cost     ceil(log2 p) steps; step t moves as many blocks as there are numbers below p with bit t
///          set, p/2 if p is a power of 2: (ts + tw m p/2) log p where links are not shared. Nothing
///          is rearranged, as messages are gathered where blocks stand.
/// Links    every step is a circular shift: free of contention on hypercubes and complete networks.
/// Source   J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for
///          All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997;
///          for Eq. 4.9 of Grama, Gupta, Karypis, Kumar where p is no power of 2.
/// Throws   UsageError, before any message, unless the blocks are as above.
void alltoall_bruck(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
