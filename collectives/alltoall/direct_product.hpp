// Total exchange straight to every destination, in phases without contention.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r. Single blocks go straight from their
/// source to their destination: nothing is combined, forwarded or rearranged.
///
/// Each dimension has as many permutations as nodes, which together hold every pair (source,
/// destination) once; moves of a permutation have classes, and those of one class share no link. For
/// every choice of one permutation for each dimension, and of t = 0 .. k-1, those nodes send whose
/// moves' classes add up to t modulo k, k the most classes of a dimension.
///
/// \param out  p blocks; block q is for node q. They may be uneven (alltoallv)
/// \param in   p blocks; block q comes from node q
///
/// Network  every dimension a ring of n <= 25 or even n, a line of n <= 4, or complete. One-port.
/// Cost     p k steps of one block, less those in which all would stay: tori of n x n with n a multiple
///          of 8 n^3/8, the bisection bound; sides of 7 and less p - 1. No memory.
/// Links    each link carries one message in a step: on a line of a dimension the classes of the
///          others are fixed, so the sum leaves one class.
/// Source   idea: S. Hinrichs, C. Kosak, D. O'Hallaron, T. Stricker, R. Take, An Architecture for
///          Optimal All-to-All Personalized Communication, SPAA 1994 (n x n, n a multiple of 8); rings:
///          T. Horie, K. Hayashi 1991. The construction is ours: docs/direct-product.md.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_direct_product(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
