// How much memory a program needs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

namespace wormcube {

/// What a program needs, estimated from dry runs of a few ranks.
struct MemoryNeed {
  double nodes = 0;     // bytes that the nodes' programs hold at once, all nodes together
  double schedule = 0;  // bytes of the recorded schedule
  double plans = 0;     // bytes of the nodes' plans: a word for each send and receive
};
/// \param root  a rank that is surely among those tried
MemoryNeed memory_need(const Topology& topology, const Program& program, Rank root = 0);

}  // namespace wormcube
