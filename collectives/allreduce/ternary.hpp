// All-reduce in ternary steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/allreduce/whole_vectors.hpp"
#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"
#include "wormcube/collectives/ternary.hpp"

namespace wormcube {

/// All nodes' vectors combined, on every node, bit by bit the same on all: reduce-scatter, then all-gather.
/// In step k of a ring a node hands on 3^k hops up and down at once: of L = ceil(log3 n) steps the
/// last one reaches as far as is left.
/// With all ports D copies of a D-th part of each block begin with different dimensions; with one port
/// each step is two.
/// form=latency, all ports, one ring of 3^K nodes: K steps of whole vectors both ways, (n - 1)/2 of
/// them in time; with rounding nodes may differ in the last bits.
///
/// \param mine    this node's vector
/// \param result  room for the result; may be `mine`
///
/// Network  ring or torus of any sides; all- or one-port. The operator must commute.
/// Cost     All ports, sides 3^L: 2 D L steps, (p - 1)/(p D) vectors.
/// Links    3^k messages share a link: 2/3 K vectors of time on a ring of 3^K.
/// Source   J. Juerss, V. Addanki, S. Schmid, Trivance, arXiv 2602.17254 (abstract, and the simulation
///          program for hops and repeated blocks); J. Juerss, S. Schmid, ReTri, arXiv 2605.26930
///          (abstract). The order of dimensions is ours.
/// Throws   UsageError, before any message, unless network, operator and blocks are as above.
void allreduce_ternary(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                       Ports ports, VectorForm form = VectorForm::parts);

}  // namespace wormcube
