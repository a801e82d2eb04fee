// Total exchange on a torus: rings of cells of 4 nodes a side, then two hops, then one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r. TorusExchange on the undivided torus.
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  torus of n >= 2 dimensions, each a multiple of 4; one-port.
/// Cost     R x C, a = max(R, C): a/2 + 2 steps, (a/4 + 1) p blocks, 3p rearranged (4x4: p).
///          n dimensions of a: n(a/4 + 1) steps of p/2 blocks on average, (n+1)p rearranged (a = 4:
///          p). Other sizes: see TorusExchange.
/// Links    no link carries two messages in a step; in the ring phases of a square torus every link
///          carries one.
/// Source   Suh and Shin, as S. Kim et al. describe and count it (Complete Exchange Algorithms in
///          Wormhole-Routed Torus Networks, ref. [6]); n dimensions and unequal sizes are ours.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_suh_torus(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
