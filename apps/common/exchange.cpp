// The exchange inside an application: chooses it, runs with it, counts its cost.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/exchange.hpp"

#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/replay/analysis.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <vector>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

// A dry run keeps every message of every node.
constexpr double most_recorded_bytes = 256e6;

MeasuredRun measured_run(const Statistics& statistics, std::chrono::nanoseconds host) {
  MeasuredRun run;
  run.wall = statistics.wall;
  if (statistics.nodes.empty()) return run;
  run.measured = true;
  run.cores = statistics.cores;
  run.host =
      std::min(host * static_cast<std::int64_t>(statistics.nodes.size()), run.cores.computing);
  run.cores.computing -= run.host;
  for (const NodeStatistics& node : statistics.nodes) {
    run.messages += node.messages;
    run.bytes_moved += node.bytes;
    run.peak_bytes = std::max(run.peak_bytes, node.peak_bytes);
  }
  run.links_used = static_cast<std::uint64_t>(std::ranges::count_if(
      statistics.links, [](const LinkStatistics& link) { return link.messages > 0; }));
  for (const LinkStatistics& link : statistics.links) {
    run.link_messages_max = std::max(run.link_messages_max, link.messages);
    run.link_bytes_max = std::max(run.link_bytes_max, link.bytes);
    run.blocked += link.blocked;
  }
  return run;
}

/// Only a few sums are kept of each run, not the statistics of every node and link: there may be a
/// million runs.
/// \param walls  gets the times of all timed runs
MeasuredRun median_run(const Runner& runner, const RunOptions& options, const Program& program,
                       const std::function<std::chrono::nanoseconds()>& after_run,
                       std::vector<std::chrono::nanoseconds>& walls) {
  require_memory(fmt::format("the statistics of {} timed runs", options.iterations),
                 static_cast<double>(options.iterations) *
                     (sizeof(MeasuredRun) + sizeof(std::chrono::nanoseconds)),
                 "use fewer of them (--iterations)");
  options.tell("warm-up");
  for (int i = 0; i < options.warmup; ++i) runner.run(program);
  std::vector<MeasuredRun> runs;
  runs.reserve(static_cast<std::size_t>(options.iterations));
  std::chrono::nanoseconds total{0};
  for (int i = 0; i < options.iterations; ++i) {
    options.tell(fmt::format("run {} of {}", i + 1, options.iterations));
    const Statistics statistics = runner.run(program);
    walls.push_back(statistics.wall);
    total += statistics.wall;  // in all processes the same
    if (options.time_limit.count() > 0 && total > options.time_limit) {
      throw TimeLimit(
          fmt::format("not finished after {} ms, the time limit", options.time_limit.count()));
    }
    runs.push_back(measured_run(statistics, after_run()));
  }
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::ranges::nth_element(runs, middle, {}, &MeasuredRun::wall);
  return *middle;
}

ModelledRun modelled_run(const Schedule& schedule, const ModelledMachine& machine, bool all_port) {
  ModelledRun run;
  MachineModel model = machine.model;
  model.all_port = all_port;
  const Replay result =
      replay(schedule, Routing(schedule.topology, machine.virtual_channels), model);
  run.time = result.time;
  run.reason = result.deadlock.substr(0, result.deadlock.find('\n'));
  run.messages = result.messages.size();
  run.blocked = result.blocked;
  run.lost = result.lost;
  for (const PathPiece& piece : critical_path(schedule, model, result)) {
    const Ticks length = piece.to - piece.from;
    switch (piece.kind) {
      case PathPiece::Kind::startup:
        run.startups += length;
        break;
      case PathPiece::Kind::transfer:
        run.transfer += length;
        break;
      case PathPiece::Kind::contention:
        run.contention += length;
        break;
      case PathPiece::Kind::rearrange:
        run.rearranging += length;
        break;
      case PathPiece::Kind::combine:
        run.combining += length;
        break;
      case PathPiece::Kind::compute:
        run.computing += length;
        break;
    }
  }
  return run;
}

}  // namespace

Exchange find_exchange(std::string_view text, const CostModel& model, Ports ports) {
  if (text == "auto") return {{}, model, ports, {}};
  constexpr std::string_view uneven = "alltoallv:";
  const auto exchange = [&](Operation operation, std::string_view name) {
    Collective collective = parse_collective(operation, name);
    const Ports needs = collective.algorithm->ports;
    return Exchange{std::move(collective), model, needs, {}};
  };
  if (text.starts_with(uneven)) {
    return exchange(operations::alltoallv, text.substr(uneven.size()));
  }
  const std::string_view name = text.substr(0, text.find(':'));
  std::string known = "auto";
  for (const Operation operation :
       {Operation(operations::alltoall), Operation(operations::alltoallv)}) {
    for (const Algorithm* algorithm : registry()) {
      if (algorithm->operation != operation) continue;
      if (algorithm->name == name) return exchange(operation, text);
      known +=
          fmt::format(", {}{}", operation == operations::alltoall ? "" : uneven, algorithm->name);
    }
  }
  throw UsageError(fmt::format("unknown exchange algorithm '{}'; available: {}", name, known));
}

void require_no_sizes(const Collective& collective) {
  if (!collective.algorithm->needs_sizes) return;
  throw UsageError(fmt::format(
      "{} {}: needs the sizes of all pairs' blocks, which applications do not share; use shift",
      collective.operation()->name, collective.name()));
}

Exchange resolve(Exchange exchange, const Topology& topology, Bytes block_bytes) {
  if (exchange.collective.algorithm == nullptr) {
    const Choice choice{operations::alltoall, topology, block_bytes, exchange.ports,
                        exchange.model};
    exchange.collective = exchange.chooser ? exchange.chooser(choice) : cheapest(choice);
  }
  const Collective& collective = exchange.collective;
  if (collective.operation() != operations::alltoall && !exchange.uneven()) {
    throw UsageError(fmt::format("an exchange is an alltoall or alltoallv, not {} {}",
                                 collective.operation()->name, collective.name()));
  }
  require_no_sizes(collective);
  collective.require(topology);
  return exchange;
}

Runner on(Machine& machine) {
  return {machine.topology(),
          [&machine](const Program& program) { return machine.run(program); },
          machine.options().all_port,
          machine.options().virtual_channels,
          nullptr,
          network_memory_of(machine.options()),
          &machine};
}

Runner on(Multicomputer& machine) {
  return {machine.topology(),
          [&machine](const Program& program) { return machine.run(program); },
          false,
          2,
          &machine.team(),
          {},
          &machine};
}

std::pair<Rank, Rank> nodes_here(const Runner& runner) {
  return runner.machine == nullptr ? std::pair(Rank{0}, runner.topology.nodes())
                                   : runner.machine->nodes_here();
}

bool holds_all(const Runner& runner) {
  return runner.processes == nullptr || runner.processes->processes() == 1;
}

void in_all_processes(const Runner& runner, const std::function<void()>& act) {
  if (runner.processes == nullptr) return act();
  std::string text;
  try {
    act();
  } catch (const UsageError& error) {
    text = error.what();
  } catch (const std::bad_alloc&) {
    text = out_of_memory_text(fmt::format("process {}", runner.processes->process()),
                              "use more processes or a smaller array");
  }
  text = runner.processes->first_text(text);
  if (!text.empty()) throw UsageError(text);
}

std::uint64_t sum(const Runner& runner, std::uint64_t of_process) {
  if (runner.processes != nullptr) runner.processes->sum({&of_process, 1});
  return of_process;
}

double maximum(const Runner& runner, double of_process) {
  if (std::isnan(of_process)) of_process = std::numeric_limits<double>::infinity();
  if (runner.processes != nullptr) runner.processes->maximum({&of_process, 1});
  return of_process;
}

void join(const Runner& runner, Span array,
          const std::function<std::pair<std::size_t, std::size_t>(Rank)>& place) {
  if (runner.processes == nullptr) return;
  const auto [first, last] = nodes_here(runner);
  if (first == last) {
    runner.processes->join(array, 0, 0);
  } else {
    runner.processes->join(array, place(first).first, place(last - 1).second);
  }
}

std::chrono::nanoseconds sum(const Runner& runner,
                             std::span<std::chrono::steady_clock::duration> of_nodes) {
  constexpr std::size_t entry = sizeof(std::chrono::steady_clock::duration);
  join(runner, std::as_writable_bytes(of_nodes), [](Rank rank) {
    const auto at = static_cast<std::size_t>(rank) * entry;
    return std::pair(at, at + entry);
  });
  return std::reduce(of_nodes.begin(), of_nodes.end());
}

UsedCollective::UsedCollective(const Collective& collective, int times)
    : operation(collective.operation()->name),
      algorithm(collective.text()),
      ports(collective.algorithm->ports),
      remark(collective.algorithm->remark),
      calls(times) {}

RunFigures measure(const Runner& runner, const RunOptions& options, const Program& program,
                   RunFigures figures, const std::function<std::chrono::nanoseconds()>& after_run) {
  if (options.iterations < 1 || options.warmup < 0) {
    throw UsageError(fmt::format("{} iterations after {} warm-up runs; need at least 1 and 0",
                                 options.iterations, options.warmup));
  }
  figures.topology = runner.topology.describe();
  figures.nodes = runner.topology.nodes();
  figures.dimensions = runner.topology.dimensions();
  figures.has_links = runner.machine == nullptr || runner.machine->has_links();
  static_cast<MeasuredRun&>(figures) =
      median_run(runner, options, program, after_run, figures.walls);
  if (options.traced) {
    options.tell("the traced run");
    runner.run(options.traced(program));
    after_run();
  }
  const bool is_first = runner.processes == nullptr || runner.processes->is_first_process();
  if (!options.check || !is_first) return figures;
  options.tell("dry run");
  if (memory_need(runner.topology, program).schedule > most_recorded_bytes) {
    if (options.modelled) {
      figures.modelled.emplace();
      figures.modelled->reason = "too many messages for a dry run in addition to the real one";
    }
    return figures;
  }
  const Schedule schedule = record(runner.topology, program);
  figures.schedule =
      check(schedule, Routing(runner.topology, runner.virtual_channels), runner.all_port);
  if (options.modelled) {
    options.tell("replay");
    figures.modelled = modelled_run(schedule, *options.modelled, runner.all_port);
  }
  return figures;
}

void require_memory_here(std::string_view what, const Runner& runner, double bytes,
                         std::string_view way_out) {
  if (runner.processes == nullptr) return require_memory(what, bytes, way_out);
  MemorySources own = MemorySources::of_this_process(), shared = own;
  own.meminfo = own.cgroup = {};
  shared.address_space = shared.data = {};
  const AvailableMemory alone = available_memory(own);
  AvailableMemory share = available_memory(shared);
  if (const int processes = runner.processes->processes_here(); processes > 1) {
    share.bytes /= processes;
    share.limit += fmt::format(", for each of {} processes on this computer", processes);
  }
  require_memory(fmt::format("{}: process {}", what, runner.processes->process()), bytes, way_out,
                 alone.bytes < share.bytes ? alone : share);
}

void require_memory_to_run(std::string_view what, const Runner& runner, double host_bytes,
                           const Program& program, std::string_view way_out) {
  const NetworkMemory* const network = runner.network ? &*runner.network : nullptr;
  const MemoryNeed need = memory_need(runner.topology, program, 0, network, nodes_here(runner));
  require_queues(what, need, network);
  require_memory_here(what, runner,
                      host_bytes + need.here + need.channels + need.queues + need.early, way_out);
}

}  // namespace wormcube::apps
