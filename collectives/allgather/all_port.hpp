// All-gather with all links at once: rotated copies, one for each dimension.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/ring_all_port.hpp"

namespace wormcube {

/// All-gather: every node's block to every node. Every block is cut into k nearly equal parts, one
/// for each dimension of more than one node; part j is gathered along the dimensions j, j+1, ..,
/// j-1 (mod k), in each both ways round. So in every step the k copies use links of different
/// dimensions. Of two nodes half a ring apart the '+' way carries the block, or, if it is split, each
/// way one half.
///
/// \param mine  1 block; it may lie in its place in \p all
/// \param all   p blocks of one size; block q is node q's
///
/// Network  torus of any k and sizes n_d (a ring: k = 1; a hypercube: all n_d = 2); all-port.
/// Cost     k max(floor(n_d / 2)) steps. Of one size n, (p - 1)/(2 k) blocks if n is odd or blocks are
///          split, which is the bound. Ring: (ts + tw m) ceil((p - 1)/2). Hypercube of d = log2 p
///          dimensions: ts d + tw m (p - 1)/d.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.7.2. Split: N. Jain,
///          Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects,
///          ICS 2010 (abstract).
/// Throws   UsageError, before any message, unless network and blocks are as above.
void allgather_all_port(Node& node, ConstBlocks mine, Blocks all, HalfWay half = HalfWay::plus);

}  // namespace wormcube
