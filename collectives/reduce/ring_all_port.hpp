// Reduction of long vectors to one node both ways round all rings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"
#include "wormcube/collectives/ring_all_port.hpp"

namespace wormcube {

/// All nodes' vectors combined, at the root: each node combines one of p parts, the root gathers them,
/// both by the ring-all-port algorithms of these.
///
/// \param mine    this node's vector
/// \param result  at the root: room for it, which may be `mine`; empty on the others
///
/// Network  ring or torus of any sides; all-port. The operator must commute.
/// Cost     sides n: 2 D floor(n/2) steps; (p - 1)/(p D) vectors if n is odd or half=split.
/// Links    each link carries one message in a step.
/// Source   N. Jain, Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus
///          interconnects, ICS 2010 (abstract); the text is ours after it.
/// Throws   UsageError, before any message, unless network, root, operator and vectors are as above.
void reduce_ring_all_port(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                          Rank root, HalfWay half);

}  // namespace wormcube
