// Circular shift between neighbours on lines, rings, meshes and tori.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Circular shift: node r's block ends at node r + by (modulo p). In each dimension, the last first,
/// blocks move from neighbour to neighbour by their digit of q = by mod p there; those that passed
/// the end of the dimension before, which lost its length on the way back, one more ("compensation").
/// Each dimension is gone round in the direction that takes fewer steps.
///
/// \param mine    1 block; it may lie in \p result
/// \param result  1 block of that size
/// \param by      any number, also negative
///
/// Network  any mesh or torus, of any number of dimensions and any sizes n_d; one-port.
/// Cost     (ts + tw m) times the steps. Ring or line: min(q, p - q). A dimension of size n with
///          digit D: min(D + 1, n - D) if a lower digit is not 0 (then some blocks move one more),
///          else min(D, n - D). On s x s nodes at most s.
/// Links    each link carries one message in a step; on a line the message from one end to the other
///          runs back over the reverse links, which are idle otherwise.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.6.1, Fig. 4.22
///          (a 3-shift on 4 x 4 takes 2 steps, not 1, as 12 blocks need compensation).
/// Throws   UsageError, before any message, unless network and blocks are as above.
void shift_unit_steps(Node& node, std::int64_t by, ConstBlocks mine, Blocks result);

}  // namespace wormcube
