// Scatter and gather without forwarding.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Scatter: the root sends block q of its input to node q, one node after another.
///
/// Network  any; one-port. Blocks of any sizes.
/// Cost     p - 1 steps of one block.
/// Links    one message in a step.
/// Source   the baseline of Grama, Gupta, Karypis, Kumar, sec. 4.1.
/// Throws   UsageError, before any message, unless the root has p blocks, its own one as `own`.
void scatter_direct(Node& node, ConstBlocks out, Span own, Rank root);
/// Gather, the same backwards; the root's own block may lie in its place from the start.
void gather_direct(Node& node, ConstSpan own, Blocks in, Rank root);

}  // namespace wormcube
