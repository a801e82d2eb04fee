// Checks whether a machine can be built, before it is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/options.hpp"
#include "wormcube/runtime/network/network.hpp"
#include "wormcube/runtime/network/routers.hpp"
#include "wormcube/runtime/topology/routing.hpp"

namespace wormcube {

RouterSettings router_settings(const Topology& topology, const MachineOptions& options);
/// \param routers  null: Transport::copy
Network::Settings network_settings(const MachineOptions& options, const RouterSettings* routers);

/// The routing of a machine. Throws UsageError if an option is out of range, there is no memory or
/// there are no threads for the machine, or it can deadlock.
Routing admitted(Topology topology, const MachineOptions& options);

/// The error text for memory that was missing although the check passed.
std::string no_memory_text(const Topology& topology, const MachineOptions& options);

}  // namespace wormcube
