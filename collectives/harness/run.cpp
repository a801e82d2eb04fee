// The timed loop around a collective call.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/run.hpp"

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/routing/routing.hpp"
#include "wormcube/runtime/schedule/check.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/core.h>

namespace wormcube {

namespace {

using Clock = std::chrono::steady_clock;

/// A node's input and output, in its private memory.
class Buffers {
 public:
  Buffers(Node& node, const Contract& contract)
      : contract_(contract),
        input_offsets_(contract.input_offsets(node.rank())),
        output_offsets_(contract.output_offsets(node.rank())),
        output_(node.memory(output_offsets_.back())),
        own_input_(node.memory(contract.in_place() ? 0 : input_offsets_.back())) {}

  Span input() const { return contract_.in_place() ? output_.span() : own_input_.span(); }
  Span output() const { return output_; }
  Call call(const Parameters& parameters) const {
    return {cut<const std::byte>(input(), input_offsets_),
            cut<std::byte>(output(), output_offsets_), parameters};
  }

 private:
  template <class Byte>
  BasicBlocks<Byte> cut(std::span<Byte> data, const std::vector<Bytes>& offsets) const {
    if (contract_.uneven()) return {data, offsets};
    return {data, std::max<Rank>(1, static_cast<Rank>(offsets.size()) - 1)};
  }

  const Contract& contract_;
  std::vector<Bytes> input_offsets_, output_offsets_;
  Memory output_, own_input_;
};

/// The node program, and what its nodes write down. Each node writes to entries of its own.
class TimedRun {
 public:
  TimedRun(const Algorithm& algorithm, const Algorithm& barrier, const Parameters& parameters,
           const Contract& contract, const CollectiveRun& run)
      : algorithm_(algorithm),
        barrier_(barrier),
        parameters_(parameters),
        contract_(contract),
        run_(run),
        verification_(contract.nodes),
        starts_(static_cast<std::size_t>(run.iterations) * contract.nodes),
        ends_(starts_.size()) {}

  void operator()(Node& node) {
    const Rank r = node.rank();
    const Buffers buffers(node, contract_);
    const Call call = buffers.call(parameters_);
    node.local([&] {
      spoil_output(contract_, r, buffers.output());
      fill_input(contract_, r, buffers.input());
    });
    for (int i = -run_.warmup; i < run_.iterations; ++i) {
      const bool verified = run_.verify && i == run_.iterations - 1;
      if (verified) node.local([&] { prepare(r, buffers); });
      barrier_.program(node, {ConstBlocks(ConstSpan(), 1), Blocks(Span(), 1), parameters_});
      const auto start = Clock::now();
      if (verified) node.local([&] { enter(); });
      algorithm_.program(node, call);
      const auto end = Clock::now();
      if (i >= 0) node.local([&] { note(i, r, start, end); });
      if (verified) node.local([&] { compare(r, buffers); });
    }
  }

  std::vector<double> times_us() const {
    std::vector<double> times;
    for (int i = 0; i < run_.iterations; ++i) {
      const auto first = static_cast<std::ptrdiff_t>(i) * contract_.nodes;
      const auto start =
          std::min_element(starts_.begin() + first, starts_.begin() + first + contract_.nodes);
      const auto end =
          std::max_element(ends_.begin() + first, ends_.begin() + first + contract_.nodes);
      times.push_back(std::chrono::duration<double, std::micro>(*end - *start).count());
    }
    return times;
  }

  std::uint64_t wrong() {
    std::uint64_t sum = 0;
    for (Rank rank = 0; rank < contract_.nodes; ++rank) {
      const Findings& findings = verification_.of(rank);
      sum += contract_.operation == Operation::barrier ? findings.missing : findings.wrong_bytes;
      sum += findings.compared ? 0 : 1;
    }
    return sum;
  }
  std::string first_wrong() const { return verification_.first(); }

 private:
  void prepare(Rank r, const Buffers& buffers) {
    spoil_output(contract_, r, buffers.output());
    if (contract_.in_place()) fill_input(contract_, r, buffers.input());
  }
  // Relaxed: what a barrier orders is ordered by its messages.
  void enter() { verification_.entered.fetch_add(1, std::memory_order_relaxed); }
  void note(int i, Rank r, Clock::time_point start, Clock::time_point end) {
    const auto entry = static_cast<std::size_t>(i) * contract_.nodes + r;
    starts_[entry] = start;
    ends_[entry] = end;
    if (r == 0 && run_.progress) run_.progress(i + 1, run_.iterations);
  }
  void compare(Rank r, const Buffers& buffers) {
    Findings& findings = verification_.of(r);
    findings = compare_output(contract_, r, buffers.output());
    const Rank entered = verification_.entered.load(std::memory_order_relaxed);
    if (contract_.operation == Operation::barrier && entered < contract_.nodes) {
      findings.missing = contract_.nodes - entered;
      findings.first =
          fmt::format("node {} left when {} of {} nodes had entered", r, entered, contract_.nodes);
    }
  }

  const Algorithm& algorithm_;
  const Algorithm& barrier_;
  const Parameters& parameters_;
  const Contract& contract_;
  const CollectiveRun& run_;
  Verification verification_;
  std::vector<Clock::time_point> starts_, ends_;  // iteration by iteration, rank by rank
};

/// User data of one node: what nccl-tests calls the size.
std::optional<double> data_bytes(const Contract& contract) {
  const auto m = static_cast<double>(contract.block_bytes);
  switch (contract.operation) {
    case Operation::barrier:
      return std::nullopt;
    case Operation::broadcast:
      return m;
    case Operation::allgather:
    case Operation::alltoall:
      return m * contract.nodes;
    case Operation::alltoallv:
      break;
  }
  double sum = 0;
  for (Rank rank = 0; rank < contract.nodes; ++rank)
    sum += static_cast<double>(contract.input_offsets(rank).back());
  return sum / contract.nodes;
}

/// The share of the data that has to cross the network.
double bus_share(Operation operation, Rank nodes) {
  return operation == Operation::broadcast ? 1.0 : (nodes - 1.0) / nodes;
}

void add_times(RunResult& result, std::vector<double> times_us) {
  result.times_us = times_us;
  std::ranges::sort(times_us);
  const std::size_t count = times_us.size();
  result.min_us = times_us.front();
  result.max_us = times_us.back();
  result.median_us = (times_us[(count - 1) / 2] + times_us[count / 2]) / 2;
  if (result.data_bytes && result.median_us > 0) {
    result.algbw_gb_per_s = *result.data_bytes / result.median_us / 1000;
    result.busbw_gb_per_s =
        *result.algbw_gb_per_s * bus_share(result.algorithm->operation, result.nodes);
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

/// Free routes are run only where no cyclic wait can arise among them and those of the barrier
/// before them: a dry run of both tells.
void require_deadlock_free(const Machine& machine, const Algorithm& algorithm,
                           const Algorithm& barrier, const Parameters& parameters) {
  if (!algorithm.any_order) return;
  const auto name = [&] {
    return fmt::format("{} {}", to_string(algorithm.operation), algorithm.name);
  };
  const MachineOptions& options = machine.options();
  if (!options.any_order) {
    throw UsageError(
        fmt::format("{}: its messages take the dimensions in any order, which this "
                    "machine refuses (MachineOptions::any_order)",
                    name()));
  }
  const Bytes bytes = 64 * static_cast<Bytes>(algorithm.parts(machine.topology()));
  const Program program = collective_program(algorithm, parameters, bytes, 0, nullptr);
  const ScheduleReport report =
      check(record(machine.topology(),
                   [&](Node& node) {
                     barrier.program(node, {ConstBlocks(ConstSpan(), 1), Blocks(Span(), 1), {}});
                     program(node);
                   }),
            Routing(machine.topology(), options.virtual_channels), options.all_port);
  if (report.deadlock_free || (options.lock_step && report.deadlock_free_in_lock_step)) return;
  throw UsageError(
      fmt::format("{} on {}: {}{}", name(), machine.topology().name(),
                  report.problems.empty() ? "its routes can deadlock" : report.problems.front(),
                  report.deadlock_free_in_lock_step && !options.lock_step
                      ? "; the routes of each step alone cannot: use lock step (--lockstep)"
                      : ""));
}

void require_ports(const Machine& machine, const Algorithm& algorithm) {
  if (algorithm.ports == Ports::all && !machine.options().all_port) {
    throw UsageError(fmt::format(
        "{} {}: sends through all ports of a node at once, and this machine has one port per node",
        to_string(algorithm.operation), algorithm.name));
  }
}

}  // namespace

void require_memory_to_run(const Algorithm& algorithm, const Topology& topology,
                           const Parameters& parameters, const CollectiveRun& run) {
  // A dry run with small blocks, scaled: memory grows with the block.
  const Bytes small = 64 * static_cast<Bytes>(algorithm.parts(topology));
  const Program program = collective_program(algorithm, parameters, small, run.seed, nullptr);
  const double nodes = memory_need(topology, program, parameters.root).nodes;
  const double scale = static_cast<double>(run.block_bytes) / static_cast<double>(small);
  const double times = 2.0 * sizeof(Clock::time_point) * run.iterations * topology.nodes();
  require_available_memory(fmt::format("{} {} on {} with blocks of {} bytes, {} iterations",
                                       to_string(algorithm.operation), algorithm.name,
                                       topology.name(), run.block_bytes, run.iterations),
                           nodes * scale + times);
}

RunResult run_collective(Machine& machine, const Algorithm& algorithm, const Parameters& parameters,
                         const CollectiveRun& run) {
  const Topology& topology = machine.topology();
  if (run.iterations < 1 || run.warmup < 0) {
    throw UsageError(fmt::format("{} iterations after {} to warm up; need at least 1 and 0",
                                 run.iterations, run.warmup));
  }
  algorithm.require(topology, parameters);
  require_ports(machine, algorithm);
  require_memory_to_run(algorithm, topology, parameters, run);
  const Algorithm& barrier = cheapest(Operation::barrier, topology, parameters, Ports::one);
  require_deadlock_free(machine, algorithm, barrier, parameters);

  const Contract contract{.operation = algorithm.operation,
                          .nodes = topology.nodes(),
                          .root = parameters.root,
                          .block_bytes = run.block_bytes,
                          .seed = run.seed};
  TimedRun timed(algorithm, barrier, parameters, contract, run);
  const Statistics statistics = machine.run([&timed](Node& node) { timed(node); });

  RunResult result;
  result.algorithm = &algorithm;
  result.topology = topology.name();
  result.nodes = topology.nodes();
  result.block_bytes = run.block_bytes;
  result.data_bytes = data_bytes(contract);
  result.predicted = algorithm.predict(topology, parameters);
  if (result.predicted.startups &&
      (result.predicted.transmission_blocks || result.predicted.contended_blocks)) {
    Parameters model = parameters;
    model.block_bytes = run.block_bytes;
    result.model_us = predicted_us(result.predicted, model);
  }
  result.deadlock_free = !dependency_cycle(Routing(topology, machine.options().virtual_channels));
  add_times(result, timed.times_us());
  add_statistics(result, statistics, run.iterations + run.warmup);
  if (run.verify) {
    result.wrong = timed.wrong();
    result.first_wrong = timed.first_wrong();
  }
  return result;
}

}  // namespace wormcube
