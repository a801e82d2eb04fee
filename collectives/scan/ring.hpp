// Prefix reduction along a line: a pipeline.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/options.hpp"
#include "wormcube/collectives/reduction.hpp"
#include "wormcube/collectives/scan/hypercube.hpp"

namespace wormcube {

/// The blocks of the lower ranks combined in their order, at each node: node r gets what 0 .. r-1
/// have combined from its neighbour, adds its own and sends it on, segment by segment.
///
/// \param mine      this node's block
/// \param result    room for the result; of an inclusive one it may be `mine`. Node 0's stays as it
///                  is if exclusive
/// \param segments  into how many segments, of whole elements, a block is cut: 1 or more
///
/// Network  one line or ring of any p > 0; one-port.
/// Cost     p - 2 + k steps of 1/k block for k segments: (ts + (tw + tc) m/k)(p - 2 + k), where the
///          last node of an exclusive one does not combine.
/// Links    each carries one message in a step.
/// Source   the textbook's linear array (Grama, Gupta, Karypis, Kumar, sec. 4.3) in a pipeline.
/// Throws   UsageError, before any message, unless network and segments are as above and the result
///          has the size of the operand, in whole elements.
void scan_ring(Node& node, const Reduction& reduction, ConstSpan mine, Span result, Prefix prefix,
               Rank segments);

Prediction scan_ring_cost(Rank p, Prefix prefix, Rank segments);

/// The option `segments` of both.
Option segments_option();
inline Rank segments_of(const Options& options) {
  return static_cast<Rank>(options.number("segments"));
}

}  // namespace wormcube
