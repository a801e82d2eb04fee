// Total exchange on a hypercube with all links at once: d rotated copies of the log p exchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r. Every block is cut into d = log2 p
/// nearly equal parts; part j crosses the dimensions in the order j, j+1, .., j-1 (mod d), so that
/// in each step the d copies of the exchange use links of different dimensions.
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  hypercube; all-port: d messages a step, one over each link.
/// Cost     d steps of p/2 parts: ts log p + tw m p/2, the least that all links together allow;
///          p blocks are rearranged before each step: tr m p log p.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.5.3,
///          Eq. 4.9, and 4.7.2.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_hypercube_all_port(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
