// The timed loop around a collective call.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/run.hpp"

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include <fmt/core.h>

namespace wormcube {

namespace {

using Clock = std::chrono::steady_clock;

void pass(const Collective& barrier, Node& node) {
  barrier.algorithm->program(node,
                             {{ConstSpan(), 0}, {Span(), 0}, barrier.arguments, barrier.options});
}

/// The node program, and the records of this process's nodes. Each node writes to its own entries.
class TimedRun {
 public:
  TimedRun(Multicomputer& machine, const Collective& collective, const Collective& barrier,
           const Contract& contract, const CollectiveRun& run)
      : team_(machine.team()),
        first_(machine.nodes_here().first),
        nodes_here_(machine.nodes_here().second - first_),
        collective_(collective),
        barrier_(barrier),
        contract_(contract),
        run_(run),
        verification_(contract, team_),
        starts_(static_cast<std::size_t>(run.iterations) * static_cast<std::size_t>(nodes_here_)),
        ends_(starts_.size()),
        first_starts_(run.calls > 0 ? static_cast<std::size_t>(nodes_here_) : 0),
        last_ends_(first_starts_.size()) {}

  void operator()(Node& node) {
    CollectiveNode call(node, collective_, contract_, &verification_);
    node.local([&] { call.prepare(); });
    for (int i = -run_.warmup; i < run_.iterations; ++i) {
      if (i == 0 && run_.calls > 0) {
        one_after_the_other(node, call);
        node.local([&] { call.prepare(); });  // in place its input has changed
      }
      const bool verified = run_.verify && i == run_.iterations - 1;
      if (verified) {
        wait_for_others(node);
        node.local([&] { call.prepare(); });
      }
      pass_barrier(node);
      if (verified) node.local([&] { call.enter(); });
      const auto start = time_of(node);
      call();
      const auto end = time_of(node);
      if (i >= 0) node.local([&] { note(i, node.rank(), start, end); });
      if (verified) {
        wait_for_others(node);
        node.local([&] { call.compare(); });
      }
    }
  }

  // All processes together, from here on.

  std::vector<double> times_us() const {
    std::vector<double> times(static_cast<std::size_t>(run_.iterations));
    for (int i = 0; i < run_.iterations && nodes_here_ > 0; ++i) {
      const auto first = static_cast<std::ptrdiff_t>(i) * nodes_here_;
      const auto start =
          std::min_element(starts_.begin() + first, starts_.begin() + first + nodes_here_);
      const auto end = std::max_element(ends_.begin() + first, ends_.begin() + first + nodes_here_);
      times[static_cast<std::size_t>(i)] =
          std::chrono::duration<double, std::micro>(*end - *start).count();
    }
    team_.maximum(times);
    return times;
  }

  /// For each call; nothing if there were none.
  std::optional<double> back_to_back_us() const {
    if (run_.calls == 0) return std::nullopt;
    double time = 0;
    if (nodes_here_ > 0) {
      const auto all = std::ranges::max(last_ends_) - std::ranges::min(first_starts_);
      time = std::chrono::duration<double, std::micro>(all).count() / run_.calls;
    }
    team_.maximum(std::span(&time, 1));
    return time;
  }

  std::uint64_t wrong() {
    std::array<std::uint64_t, 3> found{};
    auto& [not_compared, bytes, elements] = found;
    for (Rank rank = first_; rank < first_ + nodes_here_; ++rank) {
      const Findings& findings = verification_.of(rank);
      if (!findings.compared) ++not_compared;
      bytes += findings.wrong_bytes;
      elements += findings.wrong_elements;
    }
    team_.sum(found);
    if (not_compared + bytes + elements == 0) return 0;
    return std::max<std::uint64_t>(1, contract_.operation->moves_data ? bytes : elements);
  }
  std::vector<std::pair<Rank, Rank>> wrong_pairs() const { return verification_.wrong_pairs(); }
  std::string first_wrong() const { return team_.first_text(verification_.first()); }

 private:
  // When all previous work of the node is complete: with a window a step may return before.
  static Clock::time_point time_of(Node& node) {
    Clock::time_point now;
    node.local([&] { now = Clock::now(); });
    return now;
  }

  void pass_barrier(Node& node) const { pass(barrier_, node); }

  /// Long work, filling and comparing, is not done on a core that others need to end the timed
  /// call. (A verified barrier moves no data; the comparison is which nodes had entered before
  /// another left.)
  void wait_for_others(Node& node) const {
    if (contract_.operation->moves_data) pass_barrier(node);
  }

  void one_after_the_other(Node& node, CollectiveNode& call) {
    const auto at = static_cast<std::size_t>(node.rank() - first_);
    pass_barrier(node);
    first_starts_[at] = time_of(node);
    for (int i = 0; i < run_.calls; ++i) call();
    last_ends_[at] = time_of(node);
    pass_barrier(node);
  }

  void note(int i, Rank r, Clock::time_point start, Clock::time_point end) {
    const auto entry = static_cast<std::size_t>(i) * static_cast<std::size_t>(nodes_here_) +
                       static_cast<std::size_t>(r - first_);
    starts_[entry] = start;
    ends_[entry] = end;
    if (r == 0 && run_.progress) run_.progress(i + 1, run_.iterations);
  }

  Team& team_;
  Rank first_, nodes_here_;
  const Collective& collective_;
  const Collective& barrier_;
  const Contract& contract_;
  const CollectiveRun& run_;
  Verification verification_;
  std::vector<Clock::time_point> starts_, ends_;             // iteration by iteration, rank by rank
  std::vector<Clock::time_point> first_starts_, last_ends_;  // of the calls back to back, by rank
};

/// One node's user data: nccl-tests calls it the size. For uneven blocks, by their mean size.
std::optional<double> data_bytes(const Contract& contract) {
  const OperationRow& row = *contract.operation.operator->();
  if (row.data == nullptr) return std::nullopt;
  auto mean = static_cast<double>(contract.block_bytes);
  if (contract.uneven()) {
    double sum = 0, blocks = 0;
    for (Rank rank = 0; rank < contract.nodes; ++rank) {
      const Offsets offsets = contract.input_offsets(rank);
      sum += static_cast<double>(offsets.back());
      blocks += static_cast<double>(offsets.size() - 1);
    }
    mean = sum / blocks;
  }
  return mean * row.data(contract.instance());
}

void add_times(RunResult& result, std::vector<double> times_us) {
  const TimeSummary summary = summarize(times_us);
  result.times_us = std::move(times_us);
  result.min_us = summary.min;
  result.quartile1_us = summary.quartile1;
  result.median_us = summary.median;
  result.quartile3_us = summary.quartile3;
  result.max_us = summary.max;
  if (result.data_bytes.value_or(0) > 0 && result.median_us > 0) {
    result.algbw_gb_per_s = *result.data_bytes / result.median_us / 1000;
    result.busbw_gb_per_s =
        *result.algbw_gb_per_s * result.collective.operation()->bus_factor(result.nodes);
  }
}

void add_statistics(RunResult& result, const Statistics& statistics, int calls) {
  for (const NodeStatistics& node : statistics.nodes) {
    result.messages += node.messages;
    result.parked += node.parked;
    result.peak_bytes = std::max(result.peak_bytes, node.peak_bytes);
  }
  for (const LinkStatistics& link : statistics.links) {
    result.blocked += link.blocked;
    result.link_bytes_max =
        std::max(result.link_bytes_max, static_cast<double>(link.bytes) / calls);
  }
}

std::string title(const Collective& collective) {
  return fmt::format("{} {}", collective.operation()->name, collective.text());
}

/// The time of the fewest messages: those under way when the first node begins are in the call's
/// time.
Collective barrier_between_calls() { return parse_collective(operations::barrier, "tree"); }

/// Free routes run only if no cyclic wait can arise among them and those of the barriers around
/// them, which are the same before and after: a dry run of both shows that.
void require_deadlock_free(const Machine& machine, const Collective& collective,
                           const Collective& barrier) {
  if (collective.algorithm->selection != Selection::any_order) return;
  const Topology& topology = machine.topology();
  const std::string name = title(collective);
  const MachineOptions& options = machine.options();
  if (!options.any_order) {
    throw UsageError(
        fmt::format("{}: its messages take the dimensions in any order, which this "
                    "machine refuses (MachineOptions::any_order)",
                    name));
  }
  const Contract contract = contract_of(collective, topology.nodes(),
                                        64 * static_cast<Bytes>(collective.parts(topology)), 0);
  const Program program = collective_program(collective, contract, nullptr);
  const ScheduleReport report =
      check(record(
                topology,
                [&](Node& node) {
                  pass(barrier, node);
                  program(node);
                },
                name),
            Routing(topology, options.virtual_channels), options.all_port);
  if (report.deadlock_free || (options.lock_step && report.deadlock_free_in_lock_step)) return;
  throw UsageError(
      fmt::format("{} on {}: its routes can deadlock: {}{}", name, topology.name(), report.cycle,
                  report.deadlock_free_in_lock_step && !options.lock_step
                      ? "; the routes of each step alone cannot: use lock step (--lockstep)"
                      : ""));
}

void require_ports(const Machine& machine, const Collective& collective) {
  if (collective.algorithm->ports == Ports::all && !machine.options().all_port) {
    throw UsageError(fmt::format(
        "{} {}: sends through all ports of a node at once, and this machine has one port per node",
        collective.operation()->name, collective.name()));
  }
}

void require_runnable(const Machine& machine, const Collective& collective) {
  collective.require(machine.topology());
  require_ports(machine, collective);
  require_deadlock_free(machine, collective, barrier_between_calls());
}

/// One separate call: the links then carry exactly what the schedule says, without barriers.
std::vector<LinkStatistics> links_of_one_call(Multicomputer& machine, const Collective& collective,
                                              const Contract& contract) {
  if (!machine.has_links()) {
    throw UsageError("link loads are available for emulated networks only, not for MPI");
  }
  Verification verification(contract);
  return machine.run(collective_program(collective, contract, &verification)).links;
}

}  // namespace

TimeSummary summarize(std::vector<double> times) {
  std::ranges::sort(times);
  const std::size_t count = times.size(), quarter = (count - 1) / 4;
  return {.min = times.front(),
          .quartile1 = times[quarter],
          .median = (times[(count - 1) / 2] + times[count / 2]) / 2,
          .quartile3 = times[count - 1 - quarter],
          .max = times.back()};
}

void require_memory_to_run(const Collective& collective, const Topology& topology,
                           const CollectiveRun& run) {
  const Activity activity(title(collective));
  topology.require_routable();
  // A dry run with small blocks, scaled: memory grows with the block.
  const Bytes small = 64 * static_cast<Bytes>(collective.parts(topology));
  const Contract contract = contract_of(collective, topology.nodes(), small, run.seed);
  const double scale = static_cast<double>(run.block_bytes) / static_cast<double>(small);
  std::optional<NetworkMemory> network = run.network;
  if (network) network->scale = scale;
  const MemoryNeed need = memory_need(topology, collective_program(collective, contract, nullptr),
                                      collective.arguments.root, network ? &*network : nullptr);
  const std::string what =
      fmt::format("{} {} on {}", collective.operation()->name, collective.name(), topology.name());
  require_queues(what, need, network ? &*network : nullptr);
  const double nodes = need.nodes + Oracle::bytes(contract);
  const double tables = need.plans + CollectiveNode::table_bytes(contract) +
                        static_cast<double>(topology.routing_table_bytes()) + need.channels +
                        need.queues + need.early;
  const double times = 2.0 * sizeof(Clock::time_point) * run.iterations * topology.nodes();
  require_memory(fmt::format("{} with blocks of {} bytes, {} timed call{}", what, run.block_bytes,
                             run.iterations, run.iterations == 1 ? "" : "s"),
                 (nodes * scale + tables + times) * run.share_here,
                 "use fewer nodes, smaller blocks (--bytes) or fewer iterations");
}

NetworkMemory network_memory_of(const MachineOptions& options) {
  return {options.virtual_channels, options.eager_limit,
          options.transport == Transport::flits ? options.channel_capacity : 0};
}

double trial_us(Machine& machine, const Collective& collective, CollectiveRun run) {
  constexpr double enough_us = 5000, most_calls = 100;
  const Activity activity(title(collective));
  require_runnable(machine, collective);
  const Collective barrier = barrier_between_calls();
  const Contract contract = contract_of(collective, machine.topology().nodes(), run.block_bytes,
                                        run.seed, Pattern::words, run.in_place);
  run.verify = false, run.calls = 0, run.progress = {}, run.warmup = 1, run.iterations = 1;
  const auto median_us = [&] {
    TimedRun timed(machine, collective, barrier, contract, run);
    machine.run([&timed](Node& node) { timed(node); });
    return summarize(timed.times_us()).median;
  };
  const double once = median_us();
  run.iterations = static_cast<int>(std::min(most_calls, enough_us / std::max(once, 1.0)));
  return run.iterations > 1 ? median_us() : once;
}

RunResult run_collective(Machine& machine, const Collective& collective, const CollectiveRun& run) {
  const Topology& topology = machine.topology();
  require_runnable(machine, collective);
  CollectiveRun here = run;
  here.network = network_memory_of(machine.options());
  RunResult result = run_collective(static_cast<Multicomputer&>(machine), collective, here);
  result.deadlock_free = !dependency_cycle(Routing(topology, machine.options().virtual_channels));
  return result;
}

RunResult run_collective(Multicomputer& machine, const Collective& collective,
                         const CollectiveRun& run) {
  const Topology& topology = machine.topology();
  if (run.iterations < 1 || run.warmup < 0 || run.calls < 0) {
    throw UsageError(fmt::format(
        "{} timed calls, {} before them to warm up, {} back to back; need at least 1, 0 and 0",
        run.iterations, run.warmup, run.calls));
  }
  collective.require(topology);
  const Contract contract = contract_of(collective, topology.nodes(), run.block_bytes, run.seed,
                                        Pattern::words, run.in_place);
  contract.require_sizes();
  require_memory_to_run(collective, topology, run);

  const Activity activity(title(collective));
  const Collective barrier = barrier_between_calls();
  TimedRun timed(machine, collective, barrier, contract, run);
  const Statistics statistics = machine.run([&timed](Node& node) { timed(node); });

  RunResult result;
  result.collective = collective;
  result.topology = topology.name();
  result.nodes = topology.nodes();
  result.block_bytes = run.block_bytes;
  result.data_bytes = data_bytes(contract);
  result.weighed = weigh(collective, topology, run.block_bytes, run.model.bus_us.has_value());
  result.model_us = result.weighed.us(run.model, run.block_bytes);
  result.has_links = machine.has_links();
  add_times(result, timed.times_us());
  result.back_to_back_us = timed.back_to_back_us();
  add_statistics(result, statistics, run.iterations + run.warmup + run.calls);
  if (run.links) result.links = links_of_one_call(machine, collective, contract);
  if (run.traced) {
    Verification verification(contract);
    machine.run(run.traced(collective_program(collective, contract, &verification)));
  }
  if (run.verify) {
    result.wrong = timed.wrong();
    result.first_wrong = timed.first_wrong();
    if (machine.has_links() && !contract.operation->reduces && contract.operation->moves_data)
      result.wrong_pairs = timed.wrong_pairs();
  }
  return result;
}

}  // namespace wormcube
