// How many messages of a step share a link, for predictions on networks with contention.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/kit/pattern_load.hpp"

#include <optional>
#include <span>
#include <vector>

namespace wormcube {

using Message = PatternMessage;
using Messages = std::vector<Message>;

/// Sets link_load and link_blocks of an algorithm that sends these messages, step by step,
/// along the network's own routes (last dimension first). Leaves them empty if counting takes long:
/// for arbitrary graphs without a table, and beyond 2^24 hops or so.
void predict_contention(Prediction& prediction, const Topology& topology,
                        std::span<const Messages> steps);

/// The messages on the busiest link when every node r sends one to r + offset (mod p); empty for
/// arbitrary graphs.
///
/// In each dimension the messages that cross one line are a shift there, by the offset's digit, or
/// by one more if the lower digits carry. A shift by o among n loads the busiest link of a line,
/// ring or tree with min(o, n - o) messages.
std::optional<Rank> shift_link_load(const Topology& topology, Rank offset);
/// Sets the link sharing of steps of one block, a shift by each of 1 .. p - 1; nothing for
/// arbitrary graphs.
void predict_shifts(Prediction& prediction, const Topology& topology);
/// The same for exchanges between nodes r and r xor t, t = 1 .. p - 1, of 2^d nodes; nothing for
/// graphs and rings of more than 4096 nodes.
void predict_exchanges(Prediction& prediction, const Topology& topology);

}  // namespace wormcube
