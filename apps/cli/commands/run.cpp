// wormcube run: run algorithms on the machine with real data, timed and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/run.hpp"

#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/plots.hpp"
#include "wormcube/apps/cli/commands/run_links.hpp"
#include "wormcube/apps/cli/commands/run_rows.hpp"
#include "wormcube/apps/cli/commands/sweep.hpp"
#include "wormcube/apps/cli/core/failure.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/provenance.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/choosers.hpp"
#include "wormcube/apps/cli/options/cluster.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/ranked.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/apps/cli/options/trace.hpp"
#include "wormcube/apps/common/run_trace.hpp"
#include "wormcube/apps/draw/picture.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

struct RunCommand {
  SweepOptions what;
  std::vector<std::string> bytes{"1K"};
  CollectiveRun run;
  ChoiceOptions choice;
  bool no_verify = false;
  MachineFlags machine;
  TraceOptions trace;
  OutputOptions output;
  std::string occupancy;
  std::string plot;  // a file, HTML or SVG by its name
  std::string schedule;
};

/// Before anything is printed.
void require_acyclic(const Topology& topology, int virtual_channels) {
  if (const auto cycle = dependency_cycle(Routing(topology, virtual_channels))) {
    throw UsageError(
        fmt::format("{} with {} virtual channel per ring link can deadlock: messages that go "
                    "around a ring can wait for each other in a cycle, {}; use --virtual-channels "
                    "2 (`check` examines one algorithm's own routes, which may have no cycle)",
                    topology.name(), virtual_channels, *cycle));
  }
}

/// The failure of a row's dry run, if the row itself caused it. Rethrows errors of the caller or
/// this computer, such as missing memory.
std::exception_ptr failure_in_dry_run(Context& context, const Sweep::Row& row,
                                      const CollectiveRun& run, const MachineFlags& flags) {
  context.set_doing(fmt::format("{} {} on {}, dry run", row.collective.operation()->name,
                                row.collective.text(), row.topology.name()));
  contract_of(row.collective, row.topology.nodes(), row.block_bytes, run.seed, Pattern::words,
              run.in_place)
      .require_sizes();
  try {
    const TimeLimited limited(context, flags.time_limit_ms());
    require_memory_to_run(row.collective, row.topology, run);
  } catch (...) {
    const auto failure = failure_of(std::current_exception());
    if (!failure || failure->code == usage) throw;
    return std::current_exception();
  }
  return nullptr;
}

/// Networks on which the machine can run with these options.
std::vector<Topology> topologies_to_run(const Context& context, const RunCommand& options) {
  std::vector<Topology> topologies = parse_topologies(options.what.on);
  for (const Topology& topology : topologies) {
    topology.require_routable();
    options.machine.transport.require(options.machine.executor, topology);
    require_cluster(context, options.machine, topology);
    require_workers(options.machine, topology);
    if (!options.machine.in_processes())
      require_acyclic(topology, options.machine.virtual_channels);
  }
  return topologies;
}

/// The settings of a run, whatever its result.
Json call_json(const Sweep::Row& row, const RunCommand& options, const MachineOptions& machine) {
  const Collective& collective = row.collective;
  const Algorithm& algorithm = *collective.algorithm;
  return {{"operation", to_string(algorithm.operation)},
          {"algorithm", algorithm.name},
          {"options", options_json(collective.options)},
          {"arguments", arguments_json(algorithm.operation, collective.arguments)},
          {"topology", row.topology.name()},
          {"nodes", row.topology.nodes()},
          {"ports", ports_text(machine.all_port)},
          {"block_bytes", row.block_bytes},
          {"in_place", options.run.in_place},
          {"iterations", options.run.iterations},
          {"warmup", options.run.warmup},
          {"calls", options.run.calls}};
}

/// The machine and the provenance. \param json  call_json
void add_origin_json(const Context& context, Json& json, const Algorithm& algorithm,
                     const RunCommand& options, const MachineOptions& machine) {
  add_machine_json(context, json, options.machine, machine, json.at("nodes").get<Rank>());
  json["seed"] = options.run.seed;
  json["cost_model"] = cost_model_json(options.run.model);
  json["source"] = algorithm.source;
  json["origin"] = origin(algorithm).empty() ? "built in" : origin(algorithm);
  add_remark(json, algorithm);
}

/// \param json  call_json
Json result_json(const Context& context, Json json, const RunResult& result,
                 const RunCommand& options, const MachineOptions& machine) {
  json["times_us"] = result.times_us;
  json["time_min_us"] = result.min_us;
  json["time_quartile1_us"] = result.quartile1_us;
  json["time_median_us"] = result.median_us;
  json["time_quartile3_us"] = result.quartile3_us;
  json["time_max_us"] = result.max_us;
  put(json, "time_back_to_back_us", json_value(result.back_to_back_us), "no --calls");
  add_model_json(json, result.weighed, options.run.model, result.block_bytes);
  put(json, "data_bytes", json_value(result.data_bytes), "a barrier moves no data");
  put(json, "algbw_gb_per_s", json_value(result.algbw_gb_per_s), "no data, or no time");
  put(json, "busbw_gb_per_s", json_value(result.busbw_gb_per_s), "no data, or no time");
  put(json, "wrong", result.wrong ? Json(*result.wrong) : Json(nullptr), "--no-verify");
  if (!result.first_wrong.empty()) json["first_wrong"] = result.first_wrong;
  add_wrong_pairs(json, result);
  json["messages"] = result.messages;
  for (const auto& [name, value] : {std::pair("link_bytes_max", json_value(result.link_bytes_max)),
                                    std::pair("blocked", Json(result.blocked)),
                                    std::pair("deadlock_free", Json(result.deadlock_free))}) {
    put(json, name, result.has_links ? value : Json(nullptr), no_links);
  }
  json["parked"] = result.parked;
  json["peak_bytes"] = result.peak_bytes;
  add_origin_json(context, json, *result.collective.algorithm, options, machine);
  put(json, "passed", result.wrong ? Json(result.passed()) : Json(nullptr), "--no-verify");
  return json;
}

/// Machines of one network: one for each port model and kind of routes, built on demand.
class Machines {
 public:
  /// \param trace  sees the nodes' waits; may be null
  Machines(Context& context, const Topology& topology, const MachineFlags& flags, RunTrace* trace)
      : context_(context), topology_(topology), flags_(flags), trace_(trace) {}
  /// The machine of all processes.
  Multicomputer& in_processes() {
    if (!in_processes_) in_processes_ = cluster_machine(context_, flags_, topology_, false);
    return *in_processes_;
  }
  /// The machine for a collective. Fibers of one worker exchange short messages faster, because
  /// nothing crosses between cores; several workers copy long ones faster. Unless the number is
  /// given, a few calls with one and with all decide.
  Machine& for_calls_of(const Collective& collective, bool all_port, const CollectiveRun& run) {
    const bool any_order = collective.algorithm->selection == wormcube::Selection::any_order;
    if (!flags_.chooses_workers(topology_.nodes()))
      return with(all_port, any_order, flags_.workers);
    constexpr int one = 1, all = 0;
    const double with_one = trial_us(with(all_port, any_order, one), collective, run);
    const double with_all = trial_us(with(all_port, any_order, all), collective, run);
    machines_.erase({all_port, any_order});
    give_back_memory();  // the run's need does not come on top of the trials'
    return with(all_port, any_order, with_one < with_all ? one : all);
  }

 private:
  /// \param workers  as in MachineOptions. A machine with another number ends: there is memory for
  ///                 one
  Machine& with(bool all_port, bool any_order, int workers) {
    auto& machine = machines_[{all_port, any_order}];
    if (!machine || machine->options().workers != workers) {
      machine.reset();
      MachineOptions options = flags_.resolve(context_, all_port);
      options.any_order = any_order;  // run_collective checks the routes
      if (trace_ != nullptr) trace_->observe(options);
      options.workers = workers;
      machine = std::make_unique<Machine>(topology_, options);
    }
    return *machine;
  }

  Context& context_;
  const Topology& topology_;
  const MachineFlags& flags_;
  RunTrace* trace_;
  std::map<std::pair<bool, bool>, std::unique_ptr<Machine>> machines_;
  std::unique_ptr<Multicomputer> in_processes_;
};

class Runs {
 public:
  /// \param trace  for the only run; may be null
  Runs(Context& context, const RunCommand& options, Results& results, RunTrace* trace)
      : context_(context), options_(options), results_(results), trace_(trace) {}

  /// \param settings  JSON of the run
  ExitCode operator()(const Sweep::Row& row, Progress& progress, const Json& settings,
                      const MachineOptions& settled) {
    if (machines_ == nullptr || of_ != &row.topology) {
      machines_ = std::make_unique<Machines>(context_, row.topology, options_.machine, trace_);
      of_ = &row.topology;
    }
    CollectiveRun run = options_.run;
    run.block_bytes = row.block_bytes;
    run.progress = [&progress](int done, int total) { progress(done, total); };
    if (trace_ != nullptr)
      run.traced = [this](const Program& call) { return trace_->traced(call); };
    const Algorithm& algorithm = *row.collective.algorithm;
    const DryRunLimit limit(options_.machine.time_limit_ms());
    MachineOptions used = settled;
    RunResult result;
    if (options_.machine.in_processes()) {
      result = run_collective(machines_->in_processes(), row.collective, run);
    } else {
      Machine& machine = machines_->for_calls_of(row.collective, settled.all_port, run);
      used.workers = machine.options().workers;
      result = run_collective(machine, row.collective, run);
    }
    Json json = result_json(context_, settings, result, options_, used);
    if (!options_.plot.empty()) to_plot.push_back(json);
    const Json& workers = json.at("workers");
    results_.add(run_cells(result, settled.all_port, workers.is_null() ? "-" : workers.dump()),
                 std::move(json));
    if (!options_.output.links.empty()) results_.add_links(channels_json(result, row.topology));
    if (!options_.occupancy.empty()) write_occupancy(options_.occupancy, result, row.topology);
    note_remark(results_, algorithm, row.topology);
    note_bits(results_, row.collective, row.topology);
    if (trace_ != nullptr) write_trace(row);
    if (result.passed()) return passed;
    results_.note(fmt::format("{}: WRONG: {}", row.title, result.first_wrong));
    if (!options_.machine.transport.faults.empty()) note_wrong_pairs(results_, row.title, result);
    return failed;
  }

  std::vector<Json> to_plot;

 private:
  void write_trace(const Sweep::Row& row) {
    const std::string other = fmt::format(
        R"("topology":{},"run":{},"block_bytes":{},"executor":{})",
        Json(row.topology.name()).dump(),
        Json(fmt::format("{} {}", row.collective.operation()->name, row.collective.text())).dump(),
        row.block_bytes, Json(options_.machine.executor).dump());
    const TraceCounts counts = write_trace_file(
        options_.trace, [&](const auto& write) { return trace_->write(write, other); });
    results_.note(trace_text(options_.trace, counts));
  }

  Context& context_;
  const RunCommand& options_;
  Results& results_;
  RunTrace* trace_;
  const Topology* of_ = nullptr;
  std::unique_ptr<Machines> machines_;  // of that network
};

ExitCode run(Context& context, const RunCommand& given) {
  RunCommand options = given;
  if (!options.schedule.empty()) {
    use_schedule(options.schedule, options.what.operation, options.what.on, options.what.call);
    add_schedule_name(options.what.algorithm.names);
  }
  if (options.what.operation.empty())
    throw UsageError("OPERATION is required (or a schedule: --schedule FILE)");
  require_on(!options.what.on.empty(), options.what.operation);
  context.in_first_process([&] {
    options.output.validate();
    options.trace.validate();
    constexpr std::array<std::string_view, 4> ends{".html", ".svg", ".pdf", ".png"};
    if (!options.plot.empty() && std::ranges::none_of(ends, [&](std::string_view end) {
          return options.plot.ends_with(end);
        })) {
      throw UsageError(fmt::format(
          "--plot '{}': unknown format; the name must end with .html, .svg, .pdf or .png",
          options.plot));
    }
    require_writable(options.plot);
    require_writable(options.occupancy);
    if (!options.plot.ends_with(".html")) {
      apps::require_picture_format(apps::picture_format(options.plot));
    }
  });
  const Operation operation = parse_operation(options.what.operation);
  options.run.model = options.choice.cost_model(options.run.model);
  if (options.choice.has_machine()) {
    const auto profile = options.choice.resolve().profile;
    options.what.algorithm.choose_for(profile->name, profile->model.all_port);
  }
  options.run.verify = !options.no_verify;
  options.run.in_place = options.what.call.in_place;
  options.run.share_here = share_here(context);
  if (!options.occupancy.empty() && !options.machine.transport.in_flits())
    throw UsageError("--occupancy applies to --transport flits");
  options.run.links = !options.output.links.empty() || !options.occupancy.empty();
  const std::string no_effect = "has no effect with --executor " + options.machine.executor + ": ";
  if (options.run.links && options.machine.in_processes())
    throw UsageError("--links " + no_effect + no_links);
  if (options.trace.wanted() && options.machine.in_processes()) {
    throw UsageError("--trace " + no_effect +
                     "a trace covers only this process; use threads or fibers");
  }
  const std::vector<Bytes> sizes =
      operation->moves_data ? parse_sizes(options.bytes) : std::vector<Bytes>{0};
  Sweep sweep(options.what, topologies_to_run(context, options), sizes, true);
  sweep.select(
      context, options.run.model,
      auto_chooser(context, options.choice, options.output, options.machine.virtual_channels),
      options.machine.time_limit_ms());
  std::map<const Collective*, std::exception_ptr> in_dry_run;
  for (const Sweep::Row& row : sweep.rows()) {
    CollectiveRun run = options.run;
    run.block_bytes = row.block_bytes;
    if (!options.machine.in_processes())
      run.network = network_memory_of(options.machine.resolve(context, false));
    in_dry_run[&row.collective] = failure_in_dry_run(context, row, run, options.machine);
  }
  const Topology& first = sweep.topologies().front();
  const char* const single = options.trace.wanted()       ? "--trace"
                             : !options.occupancy.empty() ? "--occupancy"
                                                          : nullptr;
  if (single != nullptr && !sweep.is_single())
    throw UsageError(fmt::format("{} needs a single algorithm, network and size", single));
  std::optional<RunTrace> trace;
  if (options.trace.wanted()) trace.emplace(first, options.trace.cut(first.nodes()));

  const OutputOptions& output = options.output;
  print_setting(output, "run",
                fmt::format("{}, algorithm {}, ports {}", to_string(operation),
                            names_text(options.what.algorithm), options.what.algorithm.ports));
  sweep.print_settings(output, options.run.in_place ? ", in place" : "");
  print_machine(context, output, options.machine, options.machine.resolve(context, false));
  if (options.machine.chooses_workers(first.nodes()))
    print_setting(output, "workers", "one, or one per core: the faster in a few calls (--wide)");
  print_setting(
      output, "host",
      fmt::format("{} cores; {}", usable_cores(),
                  options.machine.in_processes() ? "times: the slowest process, by its own clock"
                                                 : "more nodes than cores: times measure the "
                                                   "emulator; see `model` for a network's time"));
  print_setting(
      output, "runs",
      fmt::format("{} timed after {} to warm up, {}{}, seed {}", options.run.iterations,
                  options.run.warmup,
                  options.run.calls > 0 ? fmt::format("{} back to back, ", options.run.calls) : "",
                  options.no_verify ? "not verified" : "verified", options.run.seed));
  print_choice(output, options.choice, options.run.model);

  Results results(
      context, output, run_columns(sweep.names(), options.run.calls > 0),
      {"operation", "topology", "algorithm", "ports", "executor", "block_bytes", "time_median_us",
       "time_min_us", "time_max_us", "busbw_gb_per_s", "model_time_us", "wrong", "passed"});
  Progress progress(context, output, "run");
  Runs runs(context, options, results, trace ? &*trace : nullptr);
  const ExitCode worst = sweep.each(context, output, results, progress, [&](const Sweep::Row& row) {
    const bool every_port = all_port(options.what.algorithm, *row.collective.algorithm);
    const MachineOptions machine = options.machine.resolve(context, every_port);
    const Json call = call_json(row, options, machine);
    Json settings = call;
    add_origin_json(context, settings, *row.collective.algorithm, options, machine);
    return sweep.attempt(
        context, results, row, std::move(settings),
        [&](const std::string& verdict) {
          return verdict == "FAILED" ? run_cells_without_result(row, every_port)
                                     : std::vector<std::string>{};
        },
        [&] {
          if (const auto& failure = in_dry_run.at(&row.collective)) std::rethrow_exception(failure);
          return runs(row, progress, call, machine);
        });
  });
  results.finish(sweep.is_single());
  if (!options.plot.empty() && context.is_first_process()) {
    std::vector<Json>& rows = runs.to_plot;
    if (rows.empty()) {
      complain(
          fmt::format("--plot {}: nothing to draw, because no run has a result", options.plot));
      return worst;
    }
    for (Json& row : rows) row["provenance"] = provenance_json(context);
    PlotOptions plot;
    (options.plot.ends_with(".html") ? plot.html : plot.svg) = options.plot;
    write_plots(context, {plot_file_of(std::move(rows), "the run")}, plot);
  }
  return worst;
}

}  // namespace

Action add_run(CLI::App& program) {
  auto options = std::make_shared<RunCommand>();
  CLI::App& app = *program.add_subcommand(
      "run", "Run algorithms on the emulated machine: move real data, measure and verify");
  app.add_option("OPERATION", options->what.operation, operations_text());
  add_on_option(app, options->what.on, false);
  add_schedule_option(app, options->schedule);
  add_algorithm_options(app, options->what.algorithm);
  options->what.bytes_option = add_sizes_option(app, options->bytes, "Block size");
  app.add_option("--iterations", options->run.iterations, "Number of timed calls per algorithm")
      ->type_name("N")
      ->check(between(1, 100000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--warmup", options->run.warmup, "Number of untimed calls before the timed ones")
      ->type_name("N")
      ->check(between(0, 100000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--calls", options->run.calls,
                 "Also time this many calls back to back, between two barriers (0: none)")
      ->type_name("N")
      ->check(between(0, 100000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_flag("--no-verify", options->no_verify, "Do not verify the last call's output")
      ->group("Measuring");
  app.add_option("--seed", options->run.seed,
                 "Seed for the data, and for the block sizes of operations whose names end in v")
      ->type_name("N")
      ->check(whole_number())
      ->capture_default_str()
      ->group("Measuring");
  add_machine_options(app, options->machine);
  add_call_options(app, options->what.call);
  add_choice_options(app, options->choice, options->run.model);
  add_output_options(app, options->output);
  add_link_options(app, options->output.links, options->occupancy);
  app.add_option("--plot", options->plot,
                 "Plot the results (like `wormcube plot` with the JSON output)")
      ->type_name("FILE.html|.svg|.pdf|.png")
      ->check(file_name())
      ->group("Output");
  add_trace_options(app, options->trace,
                    "Trace one extra, untimed call with this computer's clock, for Perfetto");
  app.footer(
      "Each timed call follows a barrier. Its time runs from when the first node starts to when "
      "the last node ends. Columns:\n"
      "  back to back  with --calls N: time per call, over N calls between two\n"
      "                barriers; a node that finishes a call begins the next at\n"
      "                once\n"
      "  block         size of a block in bytes: the data for one pair of nodes, or\n"
      "                the whole message of a broadcast\n"
      "  busbw         a node's data / median time x the share that must cross the\n"
      "                network (as in nccl-tests)\n"
      "  model         modelled time with --ts --tw --tr --tc; '-': no formula; '>=':\n"
      "                lower bound, as an unknown number of messages share links\n"
      "  wrong         number of wrong bytes in the last call's output; `?` with\n"
      "                --no-verify\n"
      "  With --wide:\n"
      "  workers       number of worker threads that ran the fibers; unless --workers gives it, "
      "one\n                or all, as a few calls before the warm-up show\n"
      "  quartile 1, 3 first and third quartile of the times\n"
      "  algbw         a node's data / median time\n"
      "  busiest link  bytes over the busiest link, in one call\n"
      "  blocked headers  number of message headers that waited for a channel; it depends\n"
      "                on how this computer schedules the nodes, so use `check` to\n"
      "                count the network's contention\n"
      "  parked        number of times that nodes blocked during the whole run\n"
      "  peak          peak memory of a node's program, input and output included\n\n"
      "The JSON output is one object for a single algorithm (by name or `auto`) on a single "
      "network with a single size, and otherwise an array of objects. The exit code is 1 if any "
      "data is wrong.\n\n"
      "Examples:\n"
      "  wormcube run alltoall --on torus:8x8 --bytes 4K\n"
      "  wormcube run alltoall --on hypercube:6 --algorithm all --bytes 64,4K,64K --csv times.csv\n"
      "  wormcube run alltoall --on torus:4x4 --algorithm suh-torus --links links.csv\n"
      "  wormcube run alltoall --on torus:4x4 --algorithm suh-torus,shift --bytes 64..64K --plot "
      "times.html\n"
      "  wormcube run alltoall --on torus:4x4 --algorithm shift --trace trace.json\n"
      "  wormcube run broadcast --on mesh:6x5 --root 7 --bytes 1M --executor fibers\n"
      "  mpirun -n 64 wormcube run alltoall --on torus:8x8 --executor mpi --algorithm all");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace wormcube::cli
