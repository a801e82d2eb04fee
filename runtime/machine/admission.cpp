// Options, memory, threads and deadlocks, in this order.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/admission.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/machine/executor/executor.hpp"
#include "wormcube/runtime/machine/node/emulated_node.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

namespace wormcube {
namespace {

constexpr std::string_view fewer_nodes = "use fewer nodes";

std::string title_of(const Routing& routing) {
  return fmt::format("{}: a machine of {} nodes and {} channels", routing.topology().name(),
                     routing.topology().nodes(), routing.channels());
}

// Before the first message: the network's tables, and of each node its state and three pages of
// stack.
double bytes_needed(const Routing& routing, const MachineOptions& options) {
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  return Network::bytes_of_tables(routing, network_settings(options, nullptr)) +
         routing.topology().nodes() * (sizeof(EmulatedNode) + 3 * page);
}

}  // namespace

RouterSettings router_settings(const Topology& topology, const MachineOptions& options) {
  const bool threads = options.executor == ExecutorKind::threads;
  const int wanted = threads ? options.routers : options.workers;
  return {.capacity = options.channel_capacity,
          .tasks = std::min(wanted > 0 ? wanted : usable_cores(), topology.nodes()),
          .faults = options.faults,
          .shuffle = options.messaging.shuffle,
          .observer = options.flit_observer};
}

Network::Settings network_settings(const MachineOptions& options, const RouterSettings* routers) {
  return {options.all_port,
          options.eager_limit,
          options.observer,
          options.timing,
          options.messaging.unexpected_limit,
          {options.messaging.unexpected_messages, options.messaging.unexpected_bytes,
           options.messaging.unexpected_limit > 0 ? EarlyMessage::header : 0},
          routers};
}

Routing admitted(Topology topology, const MachineOptions& options) {
  if (options.transport == Transport::flits) {
    if (options.channel_capacity < 1 ||
        options.channel_capacity > MachineOptions::most_channel_capacity) {
      throw UsageError(fmt::format("channel capacity: {} flits, need 1 to {}",
                                   options.channel_capacity,
                                   MachineOptions::most_channel_capacity));
    }
    if (options.routers < 0) {
      throw UsageError(
          fmt::format("routers: {}, need 1 or more, or 0 for one per core", options.routers));
    }
    require_links(topology, options.faults);
  }
  if (options.window < 1 || options.window > MachineOptions::most_window) {
    throw UsageError(
        fmt::format("window: {} steps, need 1 to {}", options.window, MachineOptions::most_window));
  }
  if (options.workers < 0) {
    throw UsageError(
        fmt::format("workers: {}, need 1 or more, or 0 for one per core", options.workers));
  }
  if (options.pin && bound_core_numbers().empty()) {
    throw UsageError(
        "the system does not report which cores this process may use; do not pin to them");
  }
  Routing routing(std::move(topology), options.virtual_channels);
  require_memory(title_of(routing), bytes_needed(routing, options), fewer_nodes);
  if (options.executor == ExecutorKind::threads) require_threads(routing.topology().nodes());
  if (options.allow_cycles) return routing;
  if (const auto cycle = dependency_cycle(routing)) {
    throw UsageError(
        fmt::format("{} with {} virtual channel{} per link can deadlock: the channels {} wait "
                    "for each other in a cycle; use 2 virtual channels",
                    routing.topology().name(), options.virtual_channels,
                    options.virtual_channels == 1 ? "" : "s", *cycle));
  }
  return routing;
}

std::string no_memory_text(const Topology& topology, const MachineOptions& options) {
  return out_of_memory_text(title_of(Routing(topology, options.virtual_channels)), fewer_nodes);
}

}  // namespace wormcube
