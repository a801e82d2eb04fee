// Nodes in MPI processes: checks of the options, and the machine's settings.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/cluster.hpp"

#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/cores.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

Cluster::Settings settings_of(const MachineFlags& flags, bool timing) {
  Cluster::Settings settings;
  if (flags.eager_limit_option != nullptr && flags.eager_limit_option->count() > 0) {
    settings.eager_limit = parse_bytes(flags.eager_limit);
  }
  settings.time_limit = flags.time_limit_ms();
  settings.timing = timing;
  return settings;
}

}  // namespace

void require_cluster(const Context& context, const MachineFlags& flags, const Topology& topology) {
  if (!flags.in_processes()) return;
  if (context.cluster() == nullptr) {
    throw UsageError(
        fmt::format("--executor {}: this wormcube was built without MPI; install an MPI library "
                    "(Debian: libopenmpi-dev openmpi-bin, or libmpich-dev mpich) and rebuild",
                    flags.executor));
  }
  const int processes = context.cluster()->processes();
  if (flags.executor == "mpi" && processes != topology.nodes()) {
    throw UsageError(fmt::format(
        "{}: {} nodes, but {} process{}, and --executor mpi puts one node in each; start mpirun -n "
        "{}, or use --executor mpi+fibers",
        topology.name(), topology.nodes(), processes, processes == 1 ? "" : "es",
        topology.nodes()));
  }
  const MachineFlags plain;
  const char* const idle = flags.lock_step                                    ? "--lockstep"
                           : flags.window != plain.window                     ? "--window"
                           : flags.workers != plain.workers                   ? "--workers"
                           : flags.pin                                        ? "--pin"
                           : flags.virtual_channels != plain.virtual_channels ? "--virtual-channels"
                                                                              : nullptr;
  if (idle != nullptr) {
    throw UsageError(fmt::format("{} has no effect with --executor {}: the network is real", idle,
                                 flags.executor));
  }
}

std::unique_ptr<Multicomputer> cluster_machine(const Context& context, const MachineFlags& flags,
                                               const Topology& topology, bool timing) {
  require_cluster(context, flags, topology);
  return context.cluster()->machine(topology, settings_of(flags, timing));
}

double share_here(const Context& context) {
  if (context.cluster() == nullptr) return 1;
  return static_cast<double>(context.cluster()->processes_here()) / context.cluster()->processes();
}

void print_machine(const Context& context, const OutputOptions& output, const MachineFlags& flags,
                   const MachineOptions& options) {
  if (!flags.in_processes()) {
    print_setting(output, "machine", machine_text(options));
    return;
  }
  const Cluster::Settings settings = settings_of(flags, false);
  print_setting(
      output, "machine",
      fmt::format(
          "nodes as {}, {} process{} ({} on the first one's computer), {}, eager limit {} B, "
          "{}",
          flags.executor, context.cluster()->processes(),
          context.cluster()->processes() == 1 ? "" : "es", context.cluster()->processes_here(),
          context.cluster()->library(),
          settings.eager_limit.value_or(context.cluster()->default_eager_limit()),
          flags.time_limit > 0 ? fmt::format("time limit {} s", flags.time_limit)
                               : "no time limit"));
  print_setting(output, "network", "mpi: the real network routes the messages; no link figures");
}

void add_machine_json(const Context& context, Json& json, const MachineFlags& flags,
                      const MachineOptions& options, Rank nodes) {
  json["executor"] = flags.executor;
  json["network"] = flags.in_processes() ? "mpi" : "emulated";
  if (!flags.in_processes()) {
    add_transport_json(json, options, nodes);
    json["eager_limit"] = options.eager_limit;
    json["virtual_channels"] = options.virtual_channels;
    json["lock_step"] = options.lock_step;
    json["window"] = options.window;
    json["pinned"] = options.pin;
    if (options.executor == ExecutorKind::fibers) {
      json["workers"] = std::min(options.workers > 0 ? options.workers : usable_cores(), nodes);
    } else {
      json["workers"] = nullptr;
      json["workers_reason"] = "each node is a thread";
    }
    return;
  }
  json["processes"] = context.cluster()->processes();
  json["mpi_library"] = context.cluster()->library();
  json["eager_limit"] =
      settings_of(flags, false).eager_limit.value_or(context.cluster()->default_eager_limit());
  for (const char* name : {"transport", "channel_capacity", "routers", "faults", "virtual_channels",
                           "lock_step", "window"}) {
    json[name] = nullptr;
    json[std::string(name) + "_reason"] = no_links;
  }
  for (const char* name : {"workers", "pinned"}) {
    json[name] = nullptr;
    json[std::string(name) + "_reason"] = "mpi: the launcher places the processes";
  }
}

}  // namespace wormcube::cli
