// Broadcasts that other algorithms use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

/// Recursive doubling by halves of intervals of ranks: any number of nodes.
void broadcast_halving(Node& node, Span message, Rank root);
Prediction predict_halving(const Setting& setting);

}  // namespace wormcube
