// What each node waits for, when all wait.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/node/emulated_node.hpp"
#include "wormcube/runtime/network/network.hpp"

#include <span>
#include <string>

namespace wormcube {

/// A table of the nodes that wait, each with the messages that it waits for and what these hold.
/// Call it while no node runs. \param barrier  of the lock step; null: no lock step
std::string deadlock_table(const Network& network, std::span<const EmulatedNode> nodes,
                           const StepBarrier* barrier);

}  // namespace wormcube
