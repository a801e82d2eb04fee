// Scatter along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// The root's block q to node q: broadcast_bine with, in each message, the blocks of all nodes that it
/// is on the way to.
///
/// \param out   at the root p blocks of one size; not looked at elsewhere
/// \param mine  room for this node's block
///
/// Network  ring or torus of sides 2^L; one-port.
/// Cost     ts log2 p + tw m (p - 1).
/// Links    each link carries one message in a step.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the ways after the authors' program,
///          far nodes first on tori.
/// Throws   UsageError, before any message, unless network, arguments and blocks are as above.
void scatter_bine(Node& node, ConstBlocks out, Span mine, Rank root);

}  // namespace wormcube
