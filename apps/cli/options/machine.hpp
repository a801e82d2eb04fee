// The options of the machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/options/transport.hpp"
#include "wormcube/runtime/machine/machine.hpp"

#include <chrono>
#include <string>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// The machine's options as text.
struct MachineFlags {
  std::string executor = "threads", eager_limit = "1K";
  int virtual_channels = 2;
  bool lock_step = false;
  int window = 1;
  int workers = 0;
  bool pin = false;
  double time_limit = 0;
  TransportFlags transport;
  const CLI::Option* eager_limit_option = nullptr;  // its default depends on executor

  /// Whether nodes run in MPI processes; cluster.hpp checks the requirements.
  bool in_processes() const { return executor.starts_with("mpi"); }
  /// Whether `run` chooses between one worker and all.
  bool chooses_workers(Rank nodes) const;
  std::chrono::milliseconds time_limit_ms() const;
  MachineOptions resolve(Context& context, bool all_port) const;
};
/// Where a command's nodes can run: a command that compares several algorithms runs them in this
/// process only.
enum class Executors { all, in_this_process };
void add_machine_options(CLI::App& app, MachineFlags& flags, Executors executors = Executors::all);
/// Throws UsageError if there are fewer nodes than workers, too few cores to pin them to, or no
/// workers at all.
void require_workers(const MachineFlags& flags, const Topology& topology);
/// --time-limit, in seconds. 0: none.
void add_time_limit_option(CLI::App& app, double& seconds, const std::string& group);
/// The same for a command that runs on no machine.
void add_command_limit_option(CLI::App& app, double& seconds);
std::chrono::milliseconds milliseconds_of(double seconds);
void add_virtual_channels_option(CLI::App& app, int& virtual_channels);
std::string machine_text(const MachineOptions& options);

}  // namespace wormcube::cli
