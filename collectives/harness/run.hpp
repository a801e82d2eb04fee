// Runs one algorithm on a machine: real data, timed, verified.
//
// Threads  any number of threads may call these functions at the same time, each with a machine of
//          its own: a machine runs one program at a time, and throws UsageError otherwise. They
//          share the registry, to which none may add meanwhile. Times are those of a busy computer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/collectives/harness/weigh.hpp"
#include "wormcube/runtime/machine/machine.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wormcube {

struct CollectiveRun {
  Bytes block_bytes = 1024;
  bool in_place = false;  ///< if the operation offers it, the input lies in the output
  CostModel model = {};   ///< for RunResult::model_us
  int iterations = 10;
  int warmup = 1;
  int calls = 0;  ///< further calls, one after another between two barriers; 0: none
  bool verify = true;
  std::uint64_t seed = 1;
  double share_here = 1;  ///< nodes in this computer's memory
  /// The machine's network, for the memory estimate; empty: none. Set by run_collective(Machine&).
  std::optional<NetworkMemory> network = {};
  bool links = false;  ///< one extra, separate call, which RunResult::links describes
  /// One extra, separate call of a program made from the call's; empty: none.
  std::function<Program(const Program& call)> traced = {};
  /// Called after each iteration, by the thread of node 0; may be empty.
  std::function<void(int done, int total)> progress = {};
};

/// Statistics of measured times. Quartiles by the nearest rank: each is a measured time.
struct TimeSummary {
  double min = 0, quartile1 = 0, median = 0, quartile3 = 0, max = 0;
};
/// \param times  one or more
TimeSummary summarize(std::vector<double> times);

/// The results. Values that were not measured are empty.
struct RunResult {
  Collective collective;
  std::string topology;
  Rank nodes = 0;
  Bytes block_bytes = 0;

  /// Per iteration: from the first node that starts to the last one that ends; over several
  /// processes the slowest one's, by its own clock.
  std::vector<double> times_us;
  double min_us = 0, quartile1_us = 0, median_us = 0, quartile3_us = 0, max_us = 0;
  /// For CollectiveRun::calls: from the first node that starts the first call to the last node that
  /// ends the last one, divided by the calls. Nodes that have ended a call begin the next, so it
  /// includes no skew of a barrier, and calls overlap.
  std::optional<double> back_to_back_us;

  /// One node's user data (mean if blocks are uneven): its input or, in an allgather, its output.
  /// Empty for a barrier.
  std::optional<double> data_bytes;
  /// By the median time, as nccl-tests defines them: data / time, and that times the share that
  /// must cross the network.
  std::optional<double> algbw_gb_per_s, busbw_gb_per_s;

  Weighed weighed;
  std::optional<double> model_us;  ///< by these counts and the cost model

  /// Wrong bytes of the last iteration's output; for a barrier: nodes missing when one left.
  std::optional<std::uint64_t> wrong;
  std::string first_wrong;  ///< a description of the first of them
  /// The pairs (from, to) whose block is wrong, ascending. Empty if a block combines the data of
  /// several nodes, or nodes are in several processes.
  std::optional<std::vector<std::pair<Rank, Rank>>> wrong_pairs;

  /// False on a real network, which does not show blocked, link_bytes_max and deadlock_free.
  bool has_links = true;
  // For the whole run, including warm-up, calls back to back, and the barriers.
  std::uint64_t messages = 0, parked = 0, blocked = 0;
  double link_bytes_max = 0;  ///< on the busiest link, in one iteration
  Bytes peak_bytes = 0;  ///< most memory that one node's program held, including input and output
  /// What each link carried in one call, without a barrier before it; with CollectiveRun::links.
  std::vector<LinkStatistics> links;
  /// The channel dependency graph of the machine's routing has no cycle.
  bool deadlock_free = false;

  bool passed() const { return wrong.value_or(0) == 0; }
};

/// Runs an algorithm: fills the inputs, makes `calls` calls, if any, between two barriers, then for
/// each iteration a barrier and the call. Before the last call every byte of the output is
/// overwritten, and after it compared.
///
/// Throws UsageError, before anything runs, if the algorithm does not apply to this machine's
/// network or ports, or needs more memory than is available; and what Machine::run throws.
RunResult run_collective(Machine& machine, const Collective& collective, const CollectiveRun& run);

/// The same on a real network, with its own routes and ports, so that any algorithm runs; called by
/// all processes of its team, each of which gets the result.
RunResult run_collective(Multicomputer& machine, const Collective& collective,
                         const CollectiveRun& run);

/// The median time of a few calls in us, to compare machines by: of one call, or of as many as take
/// about 5 ms. Nothing is verified. Throws as run_collective does.
double trial_us(Machine& machine, const Collective& collective, CollectiveRun run);

/// The network of a machine with these options.
NetworkMemory network_memory_of(const MachineOptions& options);

/// Throws UsageError with both figures if the run needs more memory than is available.
void require_memory_to_run(const Collective& collective, const Topology& topology,
                           const CollectiveRun& run);

}  // namespace wormcube
