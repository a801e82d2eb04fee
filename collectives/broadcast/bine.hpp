// Broadcast along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Broadcast: the root's message ends on every node. Who has it gives it to its partner of swing's step,
/// far ones first.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  ring or torus of sides 2^L; one-port.
/// Cost     (ts + tw m) log2 p.
/// Links    each link carries one message in a step.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the ways after the authors' program,
///          far nodes first on tori.
/// Throws   UsageError, before any message, unless network, arguments and blocks are as above.
void broadcast_bine(Node& node, Span message, Rank root);

}  // namespace wormcube
