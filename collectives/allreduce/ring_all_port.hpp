// All-reduce both ways round all rings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"
#include "wormcube/collectives/ring_all_port.hpp"

namespace wormcube {

/// All nodes' vectors combined, on every node, bit by bit the same on all: reduce-scatter, then all-gather.
/// Both ways round every ring at once, to neighbours: what is for the farthest nodes leaves first
/// and is added to on its way; one dimension after the other.
/// D rotated copies of a D-th part of each block; `split` halves what is for half way round.
///
/// \param mine    this node's vector
/// \param result  room for the result; may be `mine`
///
/// Network  ring or torus of any sides; all-port. The operator must commute.
/// Cost     Sides n: 2 D floor(n/2) steps; (p - 1)/(p D) vectors if n is odd or half=split, which is
///          the bound. Unequal sides: each step lasts as long as its largest.
/// Links    each link carries one message in a step.
/// Source   N. Jain, Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus
///          interconnects, ICS 2010 (abstract); the text is the all-gather of Grama, Gupta, Karypis,
///          Kumar, sec. 4.7.2, backwards.
/// Throws   UsageError, before any message, unless network, operator and blocks are as above.
void allreduce_ring_all_port(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                             HalfWay half);

}  // namespace wormcube
