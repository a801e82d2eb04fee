// How many packets a pipelined broadcast or reduction cuts its message into.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/cost.hpp"

namespace wormcube {

/// The most packets that an option accepts: a check gives each packet an element of its own, and
/// has tags for this many elements of a block.
inline constexpr Rank most_packets = 1 << 15;

/// The best number of packets if all but the first overlap: sqrt(rounds m tw / (ts + th)). At least
/// 1, at most one for each flit, and at most 4096: more save little time, and each costs a step to
/// emulate (with ts + th = 0 there is no best number).
/// \param rounds  of a packet from the root to the last node, less one; if a port takes k
///                packets at a time, their k-th part
Rank best_packets(Bytes message, double rounds, const CostModel& model);

}  // namespace wormcube
