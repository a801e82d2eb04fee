// Total exchange along Bine trees.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r, along the Bine trees of all nodes at once:
/// in each of swing's steps a node gives its partner the blocks that begin their way there, half of
/// those that it has.
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  ring or torus of sides 2^L; one-port.
/// Cost     log2 p steps of p/2 blocks. Nothing is rearranged.
/// Links    (|rho| + 1)/2 = 1, 1, 2, 3, 6, .. messages share a link in step 0, 1, ..: torus:8x8 256 blocks
///          of time, hypercube-combine 448.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the ways after the authors' program,
///          far nodes first on tori.
/// Throws   UsageError, before any message, unless network, arguments and blocks are as above.
void alltoall_bine(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
