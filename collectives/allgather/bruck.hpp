// All-gather on any number of nodes in the fewest steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/loads.hpp"

#include <vector>

namespace wormcube {

enum class BruckOrder : std::uint8_t { near_first, far_first };

/// All-gather: every node's block to every node, in two orders of the same hops (all modulo p).
///
/// near_first: in step t node r sends what it has gathered, the blocks of r, r+1, .., to node r - 2^t:
/// twice as many in each step, the most of them the farthest.
///
/// far_first: for k = L-1 .. 0, L = ceil(log2 p), node r sends to r + 2^k the blocks of r - e for
/// e = 0, 2^(k+1), 2 2^(k+1), ..: block r - e comes in the step of the lowest one bit of e, so that
/// one block goes far and many go near. It is reduce_scatter_bruck backwards. With a bundle of 2^j
/// only the top j bits of e are done so; then a message for each value of its other bits follows,
/// depth first, of 2^j blocks at most.
///
/// \param mine    1 block; it may lie in its place in \p all
/// \param all     p blocks; block q is node q's. They may be uneven (allgatherv)
/// \param bundle  of far_first: a power of 2, the most blocks in a message; 0: as many as there are
///
/// Network  any, of any p; one-port.
/// Cost     ceil(log2 p) steps: ts ceil(log p) + tw m (p - 1) where links are not shared; with bundles
///          j + 2^(L-j) - 1 steps where p = 2^L. Nothing is rearranged, as messages are gathered from
///          several places.
/// Links    every step is a circular shift: free of contention on hypercubes and complete networks.
///          Elsewhere far_first takes less: on a torus of 8 x 8 108 blocks of time, near_first 189.
/// Source   J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for
///          All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997;
///          for Eq. 4.4 of Grama, Gupta, Karypis, Kumar where p is no power of 2. far_first:
///          S. Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale,
///          arXiv 2506.20252, as its abstract and program have it; NCCL's own sequence of bundles
///          differs in places.
/// Throws   UsageError, before any message, unless the blocks are as above.
void allgather_bruck(Node& node, ConstBlocks mine, Blocks all,
                     BruckOrder order = BruckOrder::near_first, Rank bundle = 0);

/// The messages of far_first on p nodes, step by step, of blocks so large.
std::vector<Messages> far_first_messages(Rank p, double blocks = 1);

}  // namespace wormcube
