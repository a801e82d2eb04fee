// Reduction along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks combined, at the root: broadcast_bine backwards.
///
/// \param mine    this node's block
/// \param result  at the root: room for it, which may be `mine`; empty on the others
///
/// Network  ring or torus of sides 2^L; one-port. The operator must commute.
/// Cost     (ts + tw m + tc m) log2 p.
/// Links    each link carries one message in a step.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the ways after the authors' program,
///          far nodes first on tori.
/// Throws   UsageError, before any message, unless network, arguments and blocks are as above.
void reduce_bine(Node& node, const Reduction& reduction, ConstSpan mine, Span result, Rank root);

}  // namespace wormcube
