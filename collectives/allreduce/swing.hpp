// All-reduce by swing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/allreduce/whole_vectors.hpp"
#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"
#include "wormcube/collectives/swing.hpp"

namespace wormcube {

/// All nodes' vectors combined, on every node, bit by bit the same on all: reduce-scatter, then all-gather.
/// In step s of a ring partners are rho(s) = 1, -1, 3, -5, 11, .. hops apart (from odd coordinates
/// -rho(s)); on a torus the dimensions take their steps by turns.
/// With all ports 2 D copies of a 2 D-th part of each block, which begin with different dimensions, or
/// go the other way about.
/// form=latency, sides 2^L: log2 p steps of whole vectors (all ports: D L of a 2 D-th part in each
/// copy), (|rho| + 1)/2 of them in time (all ports |rho|/(2 D)); with rounding nodes may differ in the
/// last bits.
///
/// \param mine    this node's vector
/// \param result  room for the result; may be `mine`
///
/// Network  torus or ring of even sides (all ports: 4 or more), or of 1; one- or all-port. The operator must commute.
/// Cost     One port, sides 2^L: 2 log2 p steps, 2 (p - 1)/p vectors; with all ports (p - 1)/(p D).
/// Links    (|rho| + 1)/2 = 1, 1, 2, 3, 6, .. messages share a link with one port, |rho| with all: of
///          torus:8x8 2.0625 vectors of time with one port, 0.539 with all.
/// Source   D. De Sensi, T. Bonato, D. Saam, T. Hoefler, Swing: Short-cutting Rings for Higher Bandwidth
///          Allreduce, NSDI 2024, arXiv 2401.09356; what goes when, and sides that are no power of 2,
///          after the authors' program.
/// Throws   UsageError, before any message, unless network, operator and blocks are as above.
void allreduce_swing(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                     Ports ports);

}  // namespace wormcube
