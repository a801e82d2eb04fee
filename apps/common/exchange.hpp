// The exchange inside an application: its algorithm, its runner, and its cost.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/algorithms.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/replay/machine_model.hpp"
#include "wormcube/runtime/schedule/check.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube::apps {

/// How an application exchanges blocks. An alltoall algorithm gets equal blocks, padded if the
/// matrix does not divide evenly; an alltoallv algorithm gets the exact ones.
struct Exchange {
  Collective collective = {};  ///< without an algorithm: the cheapest alltoall, or the chooser's
  CostModel model = {};        ///< for the choice of the cheapest
  Ports ports = Ports::one;    ///< for the choice of the cheapest
  AutoChooser chooser = {};    ///< empty: the cheapest by prediction

  bool uneven() const { return collective.operation() == operations::alltoallv; }
  /// Whether the algorithm, if it is chosen already, sends through all ports.
  bool all_port() const {
    return collective.algorithm != nullptr && collective.algorithm->ports == Ports::all;
  }
  /// The exchange of one node.
  void operator()(Node& node, ConstBlocks out, Blocks in) const {
    collective.algorithm->program(node, {out, in, collective.arguments, collective.options});
  }
};

/// \param text  `auto`, or an alltoall algorithm, or an alltoallv one; `alltoallv:NAME` if both
///              have the name; with options: `kim-recursive:divisions=2`
/// Throws UsageError that lists the algorithms.
Exchange find_exchange(std::string_view text, const CostModel& model = {},
                       Ports ports = Ports::one);

/// Throws UsageError for an algorithm that needs the sizes of all pairs' blocks (Call::sizes).
void require_no_sizes(const Collective& collective);
/// The exchange for blocks of this size, with its algorithm chosen. Throws UsageError unless it
/// applies to this network.
Exchange resolve(Exchange exchange, const Topology& topology, Bytes block_bytes);

/// Anything that runs node programs: a machine; in tests also a proof.
struct Runner {
  Topology topology;
  std::function<Statistics(const Program&)> run;
  bool all_port = false;
  int virtual_channels = 2;
  Team* processes = nullptr;                  ///< null: a single process
  std::optional<NetworkMemory> network = {};  ///< an emulated network's, for estimates of memory
  const Multicomputer* machine = nullptr;     ///< null: a proof
};
/// The machine must outlive the runner.
Runner on(Machine& machine);
Runner on(Multicomputer& machine);

/// The nodes of this process, from the first to one past the last.
std::pair<Rank, Rank> nodes_here(const Runner& runner);
/// Whether all nodes live in this process.
bool holds_all(const Runner& runner);

/// Calls it in every process. If it throws in one of them, a usage error or lack of memory, all
/// throw the first one's UsageError.
void in_all_processes(const Runner& runner, const std::function<void()>& act);
/// Combined over the processes; this one's alone if there is no other. NaN counts as infinite.
std::uint64_t sum(const Runner& runner, std::uint64_t of_process);
double maximum(const Runner& runner, double of_process);

/// Gives every process what all nodes have written to a small array of the host: some bytes for
/// each node.
///
/// \param place  where a node has written: from the first byte to one past the last; ascending with
///               the rank
void join(const Runner& runner, Span array,
          const std::function<std::pair<std::size_t, std::size_t>(Rank)>& place);
/// The sum of all nodes' times; each process has written those of its own.
std::chrono::nanoseconds sum(const Runner& runner,
                             std::span<std::chrono::steady_clock::duration> of_nodes);

/// A modelled machine on which an application's messages are replayed.
struct ModelledMachine {
  MachineModel model;  // all_port is set from the run
  int virtual_channels = 2;
};

/// The time of one run of an application on a modelled machine: its exchanges, message by message,
/// the data that it rearranges and combines, and the computation that it declares. The host's
/// copies are not included.
struct ModelledRun {
  std::optional<Ticks> time;  // none: a reason
  std::string reason;         // a deadlock, or too many messages to record
  std::size_t messages = 0, blocked = 0;
  Ticks lost = 0;  // over all messages
  /// The components of the time, along the critical path.
  Ticks startups = 0, transfer = 0, contention = 0, rearranging = 0, combining = 0, computing = 0;
};

/// How often an application runs, and what else is done.
struct RunOptions {
  int warmup = 0;      ///< runs before the ones that are timed
  int iterations = 1;  ///< timed runs; the median by wall time is reported
  bool verify = true;
  std::chrono::milliseconds time_limit{0};  ///< of all timed runs together (TimeLimit); 0: none
  bool check = true;  ///< record the program dry and check the schedule; up to 256 MB of it
  /// One extra run, after the timed ones, of a program made from the application's; empty: none.
  std::function<Program(const Program&)> traced = {};
  std::optional<ModelledMachine> modelled = {};  ///< replay the recorded program there; needs check
  /// Called with what comes next: "dry run", "run 2 of 5"; may be empty.
  std::function<void(std::string_view phase)> progress = {};

  void tell(std::string_view phase) const {
    if (progress) progress(phase);
  }
};

/// A collective that an application called.
struct UsedCollective {
  UsedCollective(const Collective& collective, int times);

  std::string operation, algorithm;  ///< the algorithm with its options
  Ports ports;
  std::string remark;  ///< the algorithm's: "reconstruction", ...
  int calls;           ///< of each node, in one run
};

/// The cost of one run, from the runner's statistics.
struct MeasuredRun {
  bool measured = false;       ///< false: the runner has no statistics, and the rest is 0
  std::uint64_t messages = 0;  ///< sent by all nodes
  Bytes bytes_moved = 0;       ///< sent by all nodes, including padding and forwarding
  std::uint64_t links_used = 0;
  std::uint64_t link_messages_max = 0;  ///< on one directed link in the whole run
  Bytes link_bytes_max = 0;
  std::uint64_t blocked =
      0;                 ///< headers that found a channel taken, as the host scheduled its threads
  Bytes peak_bytes = 0;  ///< most private memory held by one node

  std::chrono::nanoseconds wall{0};
  CoreTimes cores;                   ///< with MachineOptions::timing; computing without `host`
  std::chrono::nanoseconds host{0};  ///< of all nodes: copying the host's array to them and back
};

/// What ran and its cost: of all timed runs the median by wall time.
struct RunFigures : MeasuredRun {
  std::string topology;  ///< what the network really is (Topology::describe)
  Rank nodes = 0;
  int dimensions = 0;
  std::vector<UsedCollective> collectives;
  Bytes block_bytes = 0;  ///< the largest block of any call, including padding
  Bytes padding = 0;      ///< bytes of padding in the blocks of all nodes and calls
  bool has_links = true;  ///< false: a real network, which shows nothing of this
  std::vector<std::chrono::nanoseconds> walls = {};  ///< of all timed runs, in their order

  /// The same program's dry run, checked: steps, link_load_max (per step), ...; empty if not done.
  std::optional<ScheduleReport> schedule = {};
  /// With RunOptions::modelled; empty in all processes except the first.
  std::optional<ModelledRun> modelled = {};
};

/// Runs the program as the options say and fills in the results of the runner and the dry run. The
/// dry run comes last: if the sizes of messages depend on data, it repeats those of the last run.
/// \param figures    what the application already knows: collectives, block_bytes, padding
/// \param after_run  called after each run, in all processes: mean time per node spent on the
///                   host's array
RunFigures measure(const Runner& runner, const RunOptions& options, const Program& program,
                   RunFigures figures, const std::function<std::chrono::nanoseconds()>& after_run);

/// require_memory for each process: its own limits, and its share of its computer's memory. Call it
/// in_all_processes().
/// \param bytes  of this process
void require_memory_here(std::string_view what, const Runner& runner, double bytes,
                         std::string_view way_out);

/// Throws UsageError with both figures if the program's nodes in this process (as a dry run shows)
/// and the host's arrays together need more memory than is available. Call it in_all_processes().
/// \param host_bytes  of this process
void require_memory_to_run(
    std::string_view what, const Runner& runner, double host_bytes, const Program& program,
    std::string_view way_out = "use a smaller array or an algorithm that holds fewer blocks");

}  // namespace wormcube::apps
