// What --executor mpi requires of the machine options, and the settings that describe the machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/runtime/machine/multicomputer.hpp"

#include <memory>

namespace wormcube::cli {

/// Throws UsageError if the flags want MPI processes and the program has no MPI, there are more or
/// fewer processes than nodes, or an option has no effect there. Does nothing for nodes in one
/// process.
void require_cluster(const Context& context, const MachineFlags& flags, const Topology& topology);
std::unique_ptr<Multicomputer> cluster_machine(const Context& context, const MachineFlags& flags,
                                               const Topology& topology, bool timing);
/// The share of a run's nodes that this computer holds.
double share_here(const Context& context);

/// The '#' lines about the machine.
void print_machine(const Context& context, const OutputOptions& output, const MachineFlags& flags,
                   const MachineOptions& options);
/// "network", "executor", and the machine's options; null, with a reason, for options that a real
/// network does not have.
void add_machine_json(const Context& context, Json& json, const MachineFlags& flags,
                      const MachineOptions& options, Rank nodes);

constexpr const char* no_links = "the real network routes the messages (--executor mpi)";

}  // namespace wormcube::cli
