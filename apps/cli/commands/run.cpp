// wormcube run: algorithms on the machine, with real data, timed and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/run.hpp"

#include "wormcube/apps/cli/cluster.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/plots.hpp"
#include "wormcube/apps/cli/help.hpp"
#include "wormcube/apps/cli/modelled.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/trace.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/json.hpp"
#include "wormcube/apps/cli/output/print.hpp"
#include "wormcube/apps/cli/output/provenance.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/cli/progress.hpp"
#include "wormcube/apps/cli/time_limited.hpp"
#include "wormcube/apps/cli/trouble.hpp"
#include "wormcube/apps/common/run_trace.hpp"
#include "wormcube/apps/draw/picture.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <memory>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

struct RunCommand {
  std::string operation;
  std::vector<std::string> on;
  AlgorithmOptions algorithm;
  CallOptions call;
  std::vector<std::string> bytes{"1K"};
  CollectiveRun run;
  ChoiceOptions choice;
  const CLI::Option* bytes_option = nullptr;
  std::string verify = "on";
  MachineFlags machine;
  TraceOptions trace;
  OutputOptions output;
  std::string plot;  // a file, HTML or SVG by its name
};

/// All runs on one network, in the order of the table.
struct Plan {
  Topology topology;
  std::vector<Bytes> sizes;
  std::vector<Selection> selections;  // one for each size: `auto` depends on it
  /// What a dry run of each has thrown, in that order: its row says it; null: nothing.
  std::vector<std::vector<std::exception_ptr>> troubles;
};

/// Before anything is printed: the machine itself would refuse later.
void require_acyclic(const Topology& topology, int virtual_channels) {
  if (const auto cycle = dependency_cycle(Routing(topology, virtual_channels))) {
    throw UsageError(
        fmt::format("{} with {} virtual channel per ring link can deadlock: messages that go up to "
                    "once round a ring, as a program's moves may, can wait for each other in a "
                    "cycle, {}; use --virtual-channels 2 (`check` counts one algorithm's own "
                    "routes, which may have no cycle)",
                    topology.name(), virtual_channels, *cycle));
  }
}

/// The program's own trouble in a dry run is that of its row. Throws what is of the caller or of this
/// computer: that it needs more memory than there is.
std::exception_ptr trouble_in_dry_run(const Collective& collective, const Topology& topology,
                                      const CollectiveRun& run, const MachineFlags& flags) {
  try {
    const TimeLimited limited(flags.time_limit_ms());
    require_memory_to_run(collective, topology, run);
  } catch (...) {
    const auto trouble = trouble_of(std::current_exception());
    if (!trouble || trouble->code == usage) throw;
    return std::current_exception();
  }
  return nullptr;
}

std::vector<Plan> make_plans(const RunCommand& options, Operation operation,
                             const Arguments& arguments) {
  std::vector<Bytes> sizes = parse_sizes(options.bytes);
  require_data(options.bytes_option, operation);
  if (!operation->moves_data) sizes = {0};
  std::vector<Plan> plans;
  for (Topology& topology : parse_topologies(options.on)) {
    topology.require_routable();
    require_cluster(options.machine, topology);
    require_workers(options.machine, topology);
    if (!options.machine.in_processes()) {
      require_acyclic(topology, options.machine.virtual_channels);
    }
    std::vector<Selection> selections;
    std::vector<std::vector<std::exception_ptr>> troubles;
    for (const Bytes bytes : sizes) {
      CollectiveRun run = options.run;
      run.block_bytes = bytes;
      {
        const TimeLimited choosing(options.machine.time_limit_ms());
        selections.push_back(
            select(options.algorithm, operation, topology, arguments, run.model, bytes,
                   options.on.size() > 1,
                   auto_chooser(options.choice, options.output, options.machine.virtual_channels)));
      }
      troubles.emplace_back();
      for (const Collective& collective : selections.back().collectives) {
        Results::set_doing(fmt::format("{} {} on {}, dry run", operation->name, collective.text(),
                                       topology.name()));
        contract_of(collective, topology.nodes(), bytes, run.seed, Pattern::words, run.in_place)
            .require_sizes();
        if (!options.machine.in_processes()) run.queues = queues_of(options.machine.resolve(false));
        troubles.back().push_back(trouble_in_dry_run(collective, topology, run, options.machine));
      }
    }
    plans.push_back({std::move(topology), sizes, std::move(selections), std::move(troubles)});
  }
  std::vector<Selection> all;
  for (const Plan& plan : plans) {
    all.insert(all.end(), plan.selections.begin(), plan.selections.end());
  }
  require_some(operation, all);
  return plans;
}

/// What is run, whatever comes of it.
Json call_json(const Collective& collective, const Topology& topology, Bytes block_bytes,
               const RunCommand& options, const MachineOptions& machine) {
  const Algorithm& algorithm = *collective.algorithm;
  return {{"operation", to_string(algorithm.operation)},
          {"algorithm", algorithm.name},
          {"options", options_json(collective.options)},
          {"arguments", arguments_json(algorithm.operation, collective.arguments)},
          {"topology", topology.name()},
          {"nodes", topology.nodes()},
          {"ports", ports_text(machine.all_port)},
          {"block_bytes", block_bytes},
          {"in_place", options.run.in_place},
          {"iterations", options.run.iterations},
          {"warmup", options.run.warmup},
          {"calls", options.run.calls}};
}

/// On what it is run, and where it comes from. \param json  call_json
void add_origin_json(Json& json, const Algorithm& algorithm, const RunCommand& options,
                     const MachineOptions& machine) {
  add_machine_json(json, options.machine, machine, json.at("nodes").get<Rank>());
  json["seed"] = options.run.seed;
  json["cost_model"] = cost_model_json(options.run.model);
  json["source"] = algorithm.source;
  json["origin"] = origin(algorithm).empty() ? "built in" : origin(algorithm);
  add_remark(json, algorithm);
}

/// \param json  call_json
Json result_json(Json json, const RunResult& result, const RunCommand& options,
                 const MachineOptions& machine) {
  json["times_us"] = result.times_us;
  json["time_min_us"] = result.min_us;
  json["time_quartile1_us"] = result.quartile1_us;
  json["time_median_us"] = result.median_us;
  json["time_quartile3_us"] = result.quartile3_us;
  json["time_max_us"] = result.max_us;
  put(json, "time_back_to_back_us", json_value(result.back_to_back_us), "no --calls");
  put(json, "model_time_us", json_value(result.model_us), "the source gives no formula");
  put(json, "model_contention",
      result.model_us ? Json(to_string(result.model_contention)) : Json(nullptr),
      "the source gives no formula");
  put(json, "data_bytes", json_value(result.data_bytes), "a barrier moves no data");
  put(json, "algbw_gb_per_s", json_value(result.algbw_gb_per_s), "no data, or no time");
  put(json, "busbw_gb_per_s", json_value(result.busbw_gb_per_s), "no data, or no time");
  put(json, "wrong", result.wrong ? Json(*result.wrong) : Json(nullptr), "--verify off");
  if (!result.first_wrong.empty()) json["first_wrong"] = result.first_wrong;
  json["messages"] = result.messages;
  for (const auto& [name, value] : {std::pair("link_bytes_max", json_value(result.link_bytes_max)),
                                    std::pair("blocked", Json(result.blocked)),
                                    std::pair("deadlock_free", Json(result.deadlock_free))}) {
    put(json, name, result.has_links ? value : Json(nullptr), no_links);
  }
  json["parked"] = result.parked;
  json["peak_bytes"] = result.peak_bytes;
  json["predicted"] = prediction_json(result.predicted);
  add_origin_json(json, *result.collective.algorithm, options, machine);
  put(json, "passed", result.wrong ? Json(result.passed()) : Json(nullptr), "--verify off");
  return json;
}

/// What every channel carried in one call; channels that carried nothing are left out.
std::vector<Json> channels_json(const RunResult& result, const Topology& topology) {
  std::vector<Json> rows;
  for (const LinkStatistics& link : result.links) {
    const auto ends = topology.link_ends(link.link);
    for (std::size_t channel = 0; channel < link.channels.size(); ++channel) {
      const auto [messages, bytes] = link.channels[channel];
      if (messages == 0) continue;
      Json row{{"topology", result.topology},
               {"operation", result.collective.operation()->name},
               {"algorithm", result.collective.text()},
               {"block_bytes", result.block_bytes},
               {"link", link.link},
               {"link_name", topology.link_name(link.link)}};
      put(row, "from", ends.from < 0 ? Json(nullptr) : Json(ends.from), "a switch");
      put(row, "to", ends.to < 0 ? Json(nullptr) : Json(ends.to), "a switch");
      row["virtual_channel"] = channel;
      row["messages"] = messages;
      row["bytes"] = bytes;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// \param with_calls  there are calls back to back
std::vector<Table::Column> run_columns(const RowNames& names, bool with_calls) {
  return {
      {.head = "topology", .text = true, .cut = 12, .is_name = true, .names = names.topologies},
      {.head = "algorithm", .text = true, .cut = 20, .is_name = true, .names = names.algorithms},
      {.head = "ports", .text = true, .wide = true},
      {.head = "block", .unit = "B", .width = 7},
      {.head = "median", .unit = "us", .width = 7},
      {.head = "min", .unit = "us", .width = 7, .drop = 2},
      {.head = "quartile 1", .unit = "us", .wide = true},
      {.head = "quartile 3", .unit = "us", .wide = true},
      {.head = "max", .unit = "us", .width = 7, .drop = 3},
      {.head = "back to back", .unit = "us", .width = 7, .wide = !with_calls},
      {.head = "algbw", .unit = "MB/s", .wide = true},
      {.head = "busbw", .unit = "MB/s", .width = 8, .drop = 1},
      {.head = "model", .unit = "us", .width = 7},
      {.head = "busiest link", .unit = "B", .wide = true},
      {.head = "host waits", .wide = true},
      {.head = "parked", .width = 8, .wide = true},
      {.head = "peak", .unit = "B", .width = 9, .wide = true},
      {.head = "wrong", .unit = "B", .width = 6}};
}

/// A bandwidth as the table has it; JSON has GB/s.
std::string megabytes(std::optional<double> gb_per_s) {
  if (gb_per_s) *gb_per_s *= 1000;
  return cell_rate(gb_per_s);
}

std::vector<std::string> cells(const RunResult& result, bool all_port) {
  const auto number = [](auto value) { return cell(static_cast<double>(value)); };
  return {result.topology,
          result.collective.text(),
          std::string(ports_text(all_port)),
          number(result.block_bytes),
          cell_rate(result.median_us),
          cell_rate(result.min_us),
          cell_rate(result.quartile1_us),
          cell_rate(result.quartile3_us),
          cell_rate(result.max_us),
          cell_rate(result.back_to_back_us),
          megabytes(result.algbw_gb_per_s),
          megabytes(result.busbw_gb_per_s),
          model_cell(result.model_us, result.model_contention),
          result.has_links ? number(std::round(result.link_bytes_max)) : "-",
          result.has_links ? number(result.blocked) : "-",
          number(result.parked),
          number(result.peak_bytes),
          result.wrong ? std::to_string(*result.wrong) : "?"};
}

/// The row of one that has failed.
std::vector<std::string> cells_without_result(const Collective& collective,
                                              const Topology& topology, bool all_port,
                                              Bytes block_bytes) {
  std::vector<std::string> cells(run_columns({}, false).size(), "-");
  cells[0] = topology.name();
  cells[1] = collective.text();
  cells[2] = ports_text(all_port);
  cells[3] = std::to_string(block_bytes);
  cells.back() = "FAILED";
  return cells;
}

/// Machines of one network: one for each port model and kind of routes, built when first needed.
class Machines {
 public:
  /// \param trace  sees the nodes' waits; may be null
  Machines(const Topology& topology, const MachineFlags& flags, NodeObserver* trace)
      : topology_(topology), flags_(flags), trace_(trace) {}
  /// The one of all processes.
  Multicomputer& in_processes() {
    if (!in_processes_) in_processes_ = cluster_machine(flags_, topology_, false);
    return *in_processes_;
  }
  Machine& with(bool all_port, bool any_order) {
    auto& machine = machines_[{all_port, any_order}];
    if (!machine) {
      MachineOptions options = flags_.resolve(all_port);
      options.any_order = any_order;  // run_collective checks the routes
      options.node_observer = trace_;
      machine = std::make_unique<Machine>(topology_, options);
    }
    return *machine;
  }

 private:
  const Topology& topology_;
  const MachineFlags& flags_;
  NodeObserver* trace_;
  std::map<std::pair<bool, bool>, std::unique_ptr<Machine>> machines_;
  std::unique_ptr<Multicomputer> in_processes_;
};

/// One run. What one algorithm does wrong, a time limit and a deadlock are told, and the next run goes
/// on.
/// \param rows  gets its JSON, to be plotted
ExitCode run_one(Machines& machines, const Plan& plan, const Collective& collective, Bytes bytes,
                 const std::exception_ptr& trouble, const RunCommand& options, RunTrace* trace,
                 Results& results, std::vector<Json>& rows) {
  Progress progress(options.output,
                    fmt::format("{} on {}", collective.text(), plan.topology.name()));
  CollectiveRun run = options.run;
  run.block_bytes = bytes;
  run.progress = [&progress](int done, int total) { progress(done, total); };
  if (trace != nullptr) run.traced = [trace](const Program& call) { return trace->traced(call); };
  const auto title = [&] {
    return fmt::format("{} {} on {}, blocks of {} bytes", collective.operation()->name,
                       collective.text(), plan.topology.name(), bytes);
  };
  results.set_doing(title());
  const Algorithm& algorithm = *collective.algorithm;
  const bool every_port = all_port(options.algorithm, algorithm);
  const MachineOptions machine = options.machine.resolve(every_port);
  const Json call = call_json(collective, plan.topology, bytes, options, machine);
  Json settings = call;
  add_origin_json(settings, algorithm, options, machine);
  results.begin(std::move(settings));
  Multicomputer* const processes =
      options.machine.in_processes() ? &machines.in_processes() : nullptr;
  Machine* const here =
      processes == nullptr ? &machines.with(every_port, algorithm.any_order) : nullptr;
  try {
    if (trouble) std::rethrow_exception(trouble);
    const DryRunLimit limit(options.machine.time_limit_ms());
    const RunResult result = processes != nullptr ? run_collective(*processes, collective, run)
                                                  : run_collective(*here, collective, run);
    Json json = result_json(call, result, options, machine);
    if (!options.plot.empty()) rows.push_back(json);
    results.add(cells(result, every_port), std::move(json));
    if (run.links) results.add_links(channels_json(result, plan.topology));
    note_remark(results, algorithm, plan.topology);
    if (trace != nullptr) {
      const std::string other = fmt::format(
          R"("topology":{},"run":{},"block_bytes":{},"nodes_as":{})",
          Json(plan.topology.name()).dump(),
          Json(fmt::format("{} {}", collective.operation()->name, collective.text())).dump(), bytes,
          Json(options.machine.nodes_as).dump());
      const TraceCounts counts = write_trace_file(
          options.trace, [&](const auto& write) { return trace->write(write, other); });
      results.note(trace_text(options.trace, counts));
    }
    if (result.passed()) return passed;
    results.note(fmt::format("{}: WRONG: {}", title(), result.first_wrong));
    return failed;
  } catch (...) {
    const auto found = trouble_of(std::current_exception());
    if (!found || found->code == usage) throw;
    if (is_first_process()) complain(fmt::format("{}: {}", title(), found->text));
    const std::string first_line = found->text.substr(0, found->text.find('\n'));
    if (found->code == failed) {
      results.add_without_result(cells_without_result(collective, plan.topology, every_port, bytes),
                                 found->status, first_line);
      results.note(fmt::format("FAILED: {}: {}", title(), first_line));
    } else {
      results.no_result(found->status, first_line);
      results.note(fmt::format("no result: {}", title()));
    }
    return found->code;
  }
}

ExitCode run(const RunCommand& given) {
  RunCommand options = given;
  in_first_process([&] {
    options.output.validate();
    options.trace.validate();
    constexpr std::array<std::string_view, 4> ends{".html", ".svg", ".pdf", ".png"};
    if (!options.plot.empty() && std::ranges::none_of(ends, [&](std::string_view end) {
          return options.plot.ends_with(end);
        })) {
      throw UsageError(fmt::format(
          "--plot '{}': its name says the format; end it with .html, .svg, .pdf or .png",
          options.plot));
    }
    require_writable(options.plot);
    apps::require_picture_format(apps::picture_format(options.plot));
  });
  const Operation operation = parse_operation(options.operation);
  const Arguments arguments = options.call.resolve(operation);
  options.run.model = options.choice.cost_model(options.run.model);
  options.run.verify = options.verify == "on";
  options.run.in_place = options.call.in_place == "on";
  options.run.share_here = share_here();
  options.run.links = !options.output.links.empty();
  if (options.run.links && options.machine.in_processes()) {
    throw UsageError(fmt::format("--links has no effect with --nodes-as {}: {}",
                                 options.machine.nodes_as, no_links));
  }
  if (options.trace.wanted() && options.machine.in_processes()) {
    throw UsageError(
        fmt::format("--trace has no effect with --nodes-as {}: it sees the nodes of "
                    "this process; use threads or fibers",
                    options.machine.nodes_as));
  }
  const std::vector<Plan> plans = make_plans(options, operation, arguments);
  const bool single = options.algorithm.single() && plans.size() == 1 && plans[0].sizes.size() == 1;
  if (options.trace.wanted() && !single) {
    throw UsageError("--trace takes one algorithm on one network with one size");
  }
  std::optional<RunTrace> trace;
  if (options.trace.wanted()) {
    trace.emplace(plans[0].topology, options.trace.cut(plans[0].topology.nodes()));
  }
  RunTrace* const traces = trace ? &*trace : nullptr;
  RowNames names;
  for (const Plan& plan : plans) {
    for (const Selection& selection : plan.selections) names.add(plan.topology, selection);
  }

  const OutputOptions& output = options.output;
  print_setting(output, "run",
                fmt::format("{}, algorithm {}, ports {}", to_string(operation),
                            names_text(options.algorithm), options.algorithm.ports));
  if (const std::string text = arguments_text(operation, arguments); !text.empty()) {
    print_setting(output, "arguments", text + (options.run.in_place ? ", in place" : ""));
  }
  for (const Plan& plan : plans) {
    print_setting(output, "topology", topology_text(plan.topology));
  }
  print_machine(output, options.machine, options.machine.resolve(false));
  print_setting(output, "host",
                fmt::format("{} cores; {}", usable_cores(),
                            options.machine.in_processes()
                                ? "times are those of the slowest process, by its own clock"
                                : "with more nodes than cores times are the emulator's throughput; "
                                  "the column `model` is about a network"));
  print_setting(
      output, "runs",
      fmt::format("{} timed, {} before them to warm up, {}verify {}, seed {}",
                  options.run.iterations, options.run.warmup,
                  options.run.calls > 0 ? fmt::format("{} back to back, ", options.run.calls) : "",
                  options.verify, options.run.seed));
  print_choice(output, options.choice, options.run.model);

  Results results(output, run_columns(names, options.run.calls > 0));
  ExitCode worst = passed;
  std::vector<Json> rows;
  for (const Plan& plan : plans) {
    Machines machines(plan.topology, options.machine, traces);
    for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
      std::size_t number = 0;
      for (const Collective& collective : plan.selections[i].collectives) {
        const std::exception_ptr& trouble = plan.troubles[i][number++];
        const ExitCode code = run_one(machines, plan, collective, plan.sizes[i], trouble, options,
                                      traces, results, rows);
        worst = std::max(worst, code);
      }
    }
    note_refused(results, options.algorithm, options.output, plan.selections.front().refused);
  }
  results.finish(single);
  if (!options.plot.empty() && is_first_process()) {
    if (rows.empty()) {
      complain(fmt::format("--plot {}: nothing to draw: no run has a result", options.plot));
      return worst;
    }
    for (Json& row : rows) row["made"] = made_json();
    PlotOptions plot;
    (options.plot.ends_with(".html") ? plot.html : plot.svg) = options.plot;
    write_plots({plot_file_of(std::move(rows), "the run")}, plot);
  }
  return worst;
}

}  // namespace

Action add_run(CLI::App& program) {
  auto options = std::make_shared<RunCommand>();
  CLI::App& app = *program.add_subcommand(
      "run", "Run algorithms on the machine: move real data, time and verify");
  app.add_option("OPERATION", options->operation, operations_text())->required();
  add_on_option(app, options->on, true);
  add_algorithm_options(app, options->algorithm);
  options->bytes_option = add_sizes_option(app, options->bytes, "Block size");
  app.add_option("--iterations", options->run.iterations, "Timed calls")
      ->type_name("N")
      ->check(between(1, 100000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--warmup", options->run.warmup, "Calls before the timed ones")
      ->type_name("N")
      ->check(between(0, 100000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--calls", options->run.calls,
                 "Also time so many calls one after the other, between two barriers; 0: none")
      ->type_name("N")
      ->check(between(0, 100000000))
      ->capture_default_str()
      ->group("Measuring");
  add_on_off_option(app, "--verify", options->verify,
                    "Compare every byte of the last call's output", "Measuring");
  app.add_option("--seed", options->run.seed,
                 "For the data, and the block sizes of the operations whose names end with v")
      ->type_name("N")
      ->check(whole_number())
      ->capture_default_str()
      ->group("Measuring");
  add_machine_options(app, options->machine);
  add_call_options(app, options->call);
  add_choice_options(app, options->choice, options->run.model);
  add_output_options(app, options->output);
  app.add_option("--links", options->output.links,
                 "What every channel carried in one call alone, made after the timed ones")
      ->type_name("FILE.csv|.json")
      ->check(file_name())
      ->group("Output");
  app.add_option("--plot", options->plot,
                 "Also plot the results, as `wormcube plot` does of their JSON")
      ->type_name("FILE.html|.svg|.pdf|.png")
      ->check(file_name())
      ->group("Output");
  add_trace_options(app, options->trace,
                    "One call more, alone, as a trace for Perfetto by this computer's clock");
  app.footer(
      "Each timed call follows a barrier; its time is from the first node that starts to the last "
      "one that ends. Columns:\n"
      "  back to back  with --calls N: of N calls between two barriers, the time of each; nodes "
      "that "
      "have\n"
      "                ended a call begin the next\n"
      "  block         bytes of a block: what one pair of nodes exchanges; of a broadcast, all of "
      "it\n"
      "  busbw         a node's data / median time x the share that must cross the network "
      "(nccl-tests)\n"
      "  model         the time by the formulas with --ts --tw --tr --tc; '-' where there is no "
      "formula,\n"
      "                '>=' where messages share links and nothing tells how many\n"
      "  wrong         wrong bytes in the last call's output; `?` with --verify off\n"
      "  with --wide:\n"
      "  quartile 1, 3 a quarter of the times is not more, or not less\n"
      "  algbw         a node's data / median time\n"
      "  busiest link  bytes over the link that carried most, in one call\n"
      "  host waits    headers that waited for a channel, as this computer scheduled the nodes;\n"
      "                the network's contention is what `check` computes\n"
      "  parked        times that a node gave up its core to wait, in the whole run\n"
      "  peak          most memory that one node's program held, its input and output included\n\n"
      "JSON: one object if one algorithm was asked for (by name or `auto`) on one network with one "
      "size; otherwise an\n"
      "array of objects. Exit code 1 if anything is wrong.\n\n"
      "Examples:\n"
      "  wormcube run alltoall --on torus:8x8 --bytes 4K\n"
      "  wormcube run alltoall --on hypercube:6 --algorithm all --bytes 64,4K,64K --csv times.csv\n"
      "  wormcube run alltoall --on torus:4x4 --algorithm suh-torus --links links.csv\n"
      "  wormcube run alltoall --on torus:4x4 --algorithm suh-torus,shift --bytes 64..64K --plot "
      "times.html\n"
      "  wormcube run alltoall --on torus:4x4 --algorithm shift --trace trace.json\n"
      "  wormcube run broadcast --on mesh:6x5 --root 7 --bytes 1M --nodes-as fibers\n"
      "  mpirun -n 64 wormcube run alltoall --on torus:8x8 --nodes-as mpi --algorithm all");
  return [options] { return run(*options); };
}

}  // namespace wormcube::cli
