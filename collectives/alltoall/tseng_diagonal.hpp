// Tseng, Gupta, Panda: total exchange on a torus along diagonals; a reconstruction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r.
///
/// Nodes (i, j) of a diagonal c = (j - i) mod 4 do the same. A block closes in on its destination
/// (a, b), dimension by dimension, in three phases: to the same 4 coordinates by hops of 4, to the
/// same 2 by a hop of 2, to the same one by a hop of 1.
///
///   ring steps t.1, t.2   t = 1, 2, ..: c = 0 goes j+4, c = 1 i+4, c = 2 j-4, c = 3 i-4 in t.1,
///                         and in t.2 in the other dimension, with the same sign
///   2-hop steps           even c first j, then i, odd c the other way round;
///                         + if the coordinate that changes is 0 or 1 modulo 4
///   1-hop steps           first j, then i; + if the coordinate that changes is even
///
/// As consecutive steps move in different dimensions, all blocks are rearranged before every step
/// but the first, so that what moves is one slice.
///
/// Example, 4x4: there is no ring step. The block (2,1)->(3,3) of node (2,1), c = 3, makes no hop of
/// 2 along i and one along j. A place has for each dimension, that which moves first, the hops and
/// the destination's coordinate mod 2: for i 0,1, for j 1,1, place 7 of 16. It stays in the first
/// step. For the second, along j, it is in place 1101 = 13, and goes '+' to (2,3), place 13. For the
/// 1-hop steps the hops stand before half the source's coordinate: for j 0,0, for i 1,1, place 3; it
/// stays. For the last step it is in place 1100 = 12, and goes '+' to (3,3).
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  torus of two dimensions, each a multiple of 4 (published: N x N, N = 2^n); one-port.
/// Cost     a = max(rows, columns): a/2 + 2 steps, (a/4 + 1) p blocks, (a/2 + 1) p rearranged.
/// Links    no link carries two messages in a step: on one line one residue of four sends '+' and
///          one sends '-'.
/// Source   reconstructed from what S. Kim et al., "Complete Exchange Algorithms in
///          Wormhole-Routed Torus Networks", say of their ref. [10], Y. Tseng, S. Gupta, D. Panda:
///          diagonals, contention-free, and the costs of Table 1, which this has. The order of its
///          messages is not claimed to be theirs.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_tseng_diagonal(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
