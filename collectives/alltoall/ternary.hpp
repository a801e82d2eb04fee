// Total exchange in ternary steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/cost.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r. In each dimension a displacement x of
/// -n/2 < x <= n/2 is written as a sum of t_k 3^k with t_k = -1, 0, 1; in step k the blocks with
/// t_k = 1 go 3^k hops up and those with t_k = -1 as many down, at once. One dimension after another.
///
/// With all ports D copies of a D-th part of each block begin with different dimensions; with one port
/// each step is two.
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  ring or torus of any sides; all- or one-port.
/// Cost     K least with (3^K - 1)/2 >= floor(n/2), the largest of the dimensions: D K steps (one port
///          2 D K at most). Rings of 3^K and all ports: transmission K p/3, with shared links
///          p (n - 1)/6 blocks. Nothing is rearranged; a node holds p blocks at the most.
/// Links    3^k messages share a link in step k, or fewer.
/// Source   J. Juerss, S. Schmid, ReTri, arXiv 2605.26930 (abstract); rings of any n, tori: ours.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_ternary(Node& node, ConstBlocks out, Blocks in, Ports ports);

}  // namespace wormcube
