// Total exchange on tori with all links at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r. D copies, one for each dimension of more
/// than one node, have a D-th part of every block each; copy j crosses the dimensions j, j+1, .., j-1
/// (mod D), all copies together. In a dimension bundles go both ways round, every part the shorter
/// way; of the parts for half way round one half each. So in every step each link has one message.
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  torus or ring of any D, every side 1, or 3 and more; all-port.
/// Cost     with N the longest side: D floor(N/2) steps; p N/8 blocks for even N, p (N^2 - 1)/(8 N)
///          for odd N: the bisection bound, or, of odd N, what all links of a ring allow at the least.
///          Nothing is rearranged: parts go from where they lie and come to where they stay. A node
///          holds p blocks between two dimensions.
/// Links    each link carries one message in a step.
/// Source   C. Liu, N. Gu, K. Ren, J. Tao, Optimal All-to-All Personalized Communication in All-Port
///          Tori, IMSCCS 2006; HalfRing and DimRotation of Optimizing All-to-All Collective
///          Communication with Fault Tolerance on Torus Networks, ACM 2025 (abstracts). The text is
///          ours after them.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_rotated(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
