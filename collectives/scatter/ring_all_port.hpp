// Scatter both ways round all rings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/ring_all_port.hpp"

namespace wormcube {

/// The root's block q to node q, both ways round every ring at once, to neighbours, the bundle for the
/// farthest nodes first; one dimension after the other. D rotated copies of a D-th part of each block;
/// `split` halves what is for half way round.
///
/// \param out   at the root p blocks of one size; not looked at elsewhere
/// \param mine  room for this node's block
///
/// Network  ring or torus of any sides; all-port.
/// Cost     sides n: D floor(n/2) steps; (p - 1)/(2 D) blocks if n is odd or half=split, which is the
///          bound; else (n/2)(p - 1)/((n - 1) D). Unequal sides: each step lasts as long as its largest.
/// Links    each link carries one message in a step.
/// Source   N. Jain, Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus
///          interconnects, ICS 2010 (abstract); the text is ours after it.
/// Throws   UsageError, before any message, unless network, root and blocks are as above.
void scatter_ring_all_port(Node& node, ConstBlocks out, Span mine, Rank root, HalfWay half);

}  // namespace wormcube
