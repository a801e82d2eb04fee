// All-gather in ternary steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/cost.hpp"
#include "wormcube/collectives/ternary.hpp"

namespace wormcube {

/// Every node's block to every node.
/// In step k of a ring a node hands on 3^k hops up and down at once: of L = ceil(log3 n) steps the
/// last one reaches as far as is left.
/// With all ports D copies of a D-th part of each block begin with different dimensions; with one port
/// each step is two.
///
/// \param mine  1 block; it may lie in its place in \p all
/// \param all   p blocks; block q is node q's
///
/// Network  ring or torus of any sides; all- or one-port.
/// Cost     All ports, sides 3^L: D L steps, (p - 1)/(2 D) blocks.
/// Links    3^k messages share a link: K n/3 blocks of time on a ring of 3^K.
/// Source   J. Juerss, V. Addanki, S. Schmid, Trivance, arXiv 2602.17254 (abstract, and the simulation
///          program for hops and repeated blocks); J. Juerss, S. Schmid, ReTri, arXiv 2605.26930
///          (abstract). The order of dimensions is ours.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void allgather_ternary(Node& node, ConstBlocks mine, Blocks all, Ports ports);

}  // namespace wormcube
