// Statistics of a run, from its nodes and its network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/machine/node/emulated_node.hpp"

#include <chrono>
#include <span>

namespace wormcube {

/// The sums of the nodes' own statistics only.
CoreTimes own_work_of(std::span<const NodeStatistics> nodes);

/// Statistics of a run that took `wall`. Throws ProgramError if a message was not received.
Statistics statistics_of_run(const Surroundings& around, std::span<const EmulatedNode> nodes,
                             std::chrono::nanoseconds wall, int cores);

}  // namespace wormcube
