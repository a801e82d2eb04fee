// Kim et al.: total exchange on a torus that is divided into cells; only masters exchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange by A_k, the torus divided k times: node r's block q ends as node q's block r.
///
/// Level i divides the torus into cells of 2^i nodes a side. Its masters are the nodes whose
/// coordinates' low i bits add up to 0 bit by bit (two dimensions: row = column modulo 2^i), one
/// half of those of level i-1; the other half are slaves of phase i. Every line meets one master of
/// each cell only, so the tori that masters form share no link.
///
///   split, i = 1..k    the masters of level i-1 send along the last dimension, .., dimension 1
///                      what belongs on the other side; slaves then send all along dimension 0.
///                      Before: a master holds the blocks of its level i-1 cell for its level i-1
///                      delegators. After: the same with i; twice as many
///   exchange           TorusExchange among the masters of level k, hops of 2^k
///   merge, i = k..1    each master of level i sends its slave along the last dimension the half
///                      that is for the slave's side
///
/// A block's delegate at level i is the master in the destination's level i cell that agrees with
/// the destination in all coordinates but the last: so one step of merge per level is enough.
///
/// \param out        p blocks of one size; block q is for node q
/// \param in         p blocks of that size; block q comes from node q
/// \param divisions  k; 0 for the paper's A_{n-1}: k such that sizes / 2^k are 2
///
/// Network  torus of n >= 2 dimensions (n > 2: our extension), sizes / 2^k all multiples of 4, or
///          all 2; one-port. kim-a1 is k = 1: sizes are multiples of 8, or all 4.
/// Cost     core(k) is TorusExchange's, in bundles of 2^(k(n+1)) blocks. k(n+1) + core steps;
///          (n+3)(2^k-1) p/2 + core blocks; 4(2^k-1) p + core rearranged: after each split phase
///          and before each merge phase. N x N, V = N/2^k >= 8: 3k + V/2 + 2 steps,
///          N^3/4 + N^2 (7 2^k - 5)/2 blocks, N^2 (7 2^k - 4) rearranged (V = 4: 5 for 7).
///          A_{n-1} of N = 2^n: 3n - 1 steps, (7N^3 - 10N^2)/4 blocks, 2N^3 - 4N^2 rearranged.
/// Space    2^k p blocks; A_{n-1}: N^3/2.
/// Links    no link carries two messages in a step.
/// Source   S. Kim et al., "Complete Exchange Algorithms in Wormhole-Routed Torus Networks", sec.
///          2.2 (A_{n-1}), 2.3 (A_1). Phases 3, 4 of A_1 and the costs are printed wrongly there.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_kim_recursive(Node& node, ConstBlocks out, Blocks in, int divisions = 0);
void alltoall_kim_a1(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
