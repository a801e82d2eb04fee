// How many messages of a step share a link: for formulas of algorithms on networks poorer than their
// own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/pattern_load.hpp"

#include <span>
#include <vector>

namespace wormcube {

using Message = PatternMessage;
using Messages = std::vector<Message>;

/// Sets link_load and contended_blocks of an algorithm that sends these messages, step by step, along
/// the network's own routes (last dimension first). Leaves them empty where counting takes long: for
/// arbitrary graphs that have no table, and beyond 2^24 hops or so.
void predict_contention(Prediction& prediction, const Topology& topology,
                        std::span<const Messages> steps);

}  // namespace wormcube
