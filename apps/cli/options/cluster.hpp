// Nodes in MPI processes, as the subcommands see them: one process of several, of which the first
// prints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/runtime/machine/multicomputer.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace wormcube::cli {

/// The processes that were started together. The program's main file brings it where there is an
/// MPI; nothing else here knows of MPI.
class Cluster {
 public:
  struct Settings {
    std::optional<Bytes> eager_limit;
    std::chrono::milliseconds time_limit{0};
    bool timing = false;
  };

  virtual ~Cluster() = default;
  Cluster() = default;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  virtual int process() const = 0;
  virtual int processes() const = 0;
  /// Those on this computer.
  virtual int processes_here() const = 0;
  virtual std::string library() const = 0;
  virtual Bytes default_eager_limit() const = 0;
  /// MpiSession::agree.
  virtual int agree(int exit_code, std::string& text) = 0;
  virtual std::unique_ptr<Multicomputer> machine(const Topology& topology,
                                                 const Settings& settings) = 0;
};

/// Whether the command line says --nodes-as mpi..: what is printed depends on it, errors included.
bool wants_cluster(int argc, const char* const* argv);
/// The processes of this run; nullptr if it is one alone.
Cluster* cluster();
/// From here to the end of the scope. In all processes but the first what goes to standard output
/// is thrown away.
class ClusterScope {
 public:
  explicit ClusterScope(Cluster* cluster);
  ~ClusterScope();
  ClusterScope(const ClusterScope&) = delete;
  ClusterScope& operator=(const ClusterScope&) = delete;
};

bool is_first_process();
/// Calls it in the first process alone; a UsageError is thrown in all.
void in_first_process(const std::function<void()>& act);

/// Throws UsageError if the flags want MPI processes and the program has no MPI, there are more or
/// fewer processes than nodes, or an option has no effect there. Nothing for nodes in one process.
void require_cluster(const MachineFlags& flags, const Topology& topology);
std::unique_ptr<Multicomputer> cluster_machine(const MachineFlags& flags, const Topology& topology,
                                               bool timing);
/// The share of a run's nodes that this computer holds.
double share_here();

/// The '#' lines about the machine.
void print_machine(const OutputOptions& output, const MachineFlags& flags,
                   const MachineOptions& options);
/// "network", "nodes_as", and the machine's options; null, with the reason, what a real network has
/// not.
void add_machine_json(Json& json, const MachineFlags& flags, const MachineOptions& options,
                      Rank nodes);

constexpr const char* no_links =
    "routes and reservations are the real network's business (--nodes-as mpi)";

}  // namespace wormcube::cli
