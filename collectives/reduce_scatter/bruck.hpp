// Reduce-scatter in ceil(log2 p) steps for any number of nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/loads.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks q combined in the order of ranks, at node q: the dual of Bruck's all-gather.
///
/// What node r = q + j has for node q goes to node r - D in the step of the lowest bit D of j. So
/// before that step it is combined over D neighbours from r on, round the ring of ranks: two partial
/// results where they pass p - 1, unless the operator commutes.
///
/// \param in   one block for each node, of any sizes
/// \param out  room for this node's result; may be its block of `in`
///
/// Network  any, of any p; one-port.
/// Cost     c = ceil(log2 p) steps. Of a commutative operator ts c + (tw + tc) m (p - 1); else
///          transmission grows by floor((p - 2) / 2) blocks and combining by one, for p > 2.
/// Links    shift_link_load(2^i) messages share a link in step i: one on hypercubes and complete
///          networks.
/// Source   J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for
///          All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997
///          (the all-gather); order of ranks ours.
/// Throws   UsageError, before any message, unless the blocks are as above, of whole elements.
void reduce_scatter_bruck(Node& node, const Reduction& reduction, ConstBlocks in, Span out);

/// Its messages, step by step, of blocks so large.
std::vector<Messages> reduce_scatter_bruck_messages(Rank p, bool commutative, double blocks = 1);
/// Without contention.
Prediction reduce_scatter_bruck_cost(Rank p, bool commutative);

}  // namespace wormcube
