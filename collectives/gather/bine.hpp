// Gather along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Every node's block to the root: scatter_bine backwards.
///
/// \param mine  this node's block
/// \param in    at the root room for p blocks of that size; not looked at elsewhere
///
/// Network  ring or torus of sides 2^L; one-port.
/// Cost     ts log2 p + tw m (p - 1).
/// Links    each link carries one message in a step.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the ways after the authors' program,
///          far nodes first on tori.
/// Throws   UsageError, before any message, unless network, arguments and blocks are as above.
void gather_bine(Node& node, ConstSpan mine, Blocks in, Rank root);

}  // namespace wormcube
