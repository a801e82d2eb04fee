// What the registrations of algorithms with sources, or targets, share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/k_to_all/sources.hpp"
#include "wormcube/collectives/pattern_load.hpp"

namespace wormcube {

/// The cost of p - 1 steps of one block, in the i-th of which each source and the node i ranks on
/// have a message. Nothing is rearranged. The loads are known up to 2048 nodes: of more they take
/// long to find.
/// \param message  theirs: which way it goes
Prediction direct_prediction(const Setting& setting,
                             PatternMessage (*message)(Rank source, Rank other));

}  // namespace wormcube
