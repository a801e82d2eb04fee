// Store and forward along lines, dimension by dimension: shared by the ring algorithms of scatter
// and gather.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/kit/holding.hpp"
#include "wormcube/collectives/kit/reversible.hpp"

namespace wormcube {

/// The steps of dimension d. A line takes part when its nodes agree with the root in all later
/// dimensions.
void run_pipeline(Node& node, int d, const Holding& held, Rank root, Way way);

/// What a node holds: all blocks at the root; elsewhere those of the bundle that it gets along the
/// last dimension in which it differs from the root.
Holding pipeline_holding(Node& node, const Call& call, ConstBlocks all, Span own);

/// A scatter or a gather by these steps, and the same with blocks of any sizes.
Registration pipelines(Way way, void (*program)(Node&, const Call&));

}  // namespace wormcube
