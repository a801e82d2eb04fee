// wormcube compare: the times of a few algorithms by block size, where they cross, and why.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/compare_text.hpp"
#include "wormcube/apps/cli/commands/draw.hpp"
#include "wormcube/apps/cli/commands/plots.hpp"
#include "wormcube/apps/cli/core/provenance.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/measured.hpp"
#include "wormcube/apps/cli/options/modelled.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/collectives/harness/schedule_algorithm.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace wormcube::cli {

namespace {

struct CompareCommand {
  std::string operation, on, html, plot, schedule;
  AlgorithmOptions algorithm;
  std::vector<std::string> bytes{"8..1M"};
  CallOptions call;
  CostModel model;
  ChoiceOptions choice;
  MachineFlags machine;
  int iterations = 11;
  OutputOptions output;
  std::vector<const CLI::Option*> of_measuring;  // options that have no effect otherwise

  bool measures() const { return choice.by == "measured"; }
};

constexpr std::size_t most_compared = 8;

/// The algorithms' times, for one size after another.
class Comparison {
 public:
  Comparison(Context& context, const CompareCommand& options, const Topology& topology)
      : options_(options), topology_(topology), weights_(topology) {
    const Operation operation = parse_operation(options.operation);
    const Arguments arguments = options.call.resolve(operation);
    for (const std::string& name : options.algorithm.names) {
      if (name == "auto" || name == "all") {
        throw UsageError(fmt::format(
            "compare needs the names of algorithms, not '{}'; `wormcube best` compares all", name));
      }
    }
    // Refuses those that do not run here.
    const Selection selection =
        select(options.algorithm, operation, topology, arguments, options.model, 1, false);
    if (selection.collectives.size() < 2 || selection.collectives.size() > most_compared) {
      throw UsageError(
          fmt::format("--algorithm: compare needs 2 to {} algorithms, as in "
                      "--algorithm A,B; given: {}",
                      most_compared, names_text(options.algorithm)));
    }
    for (const std::string& name : options.algorithm.names) {
      open_.push_back(parse_collective(operation, name, arguments));
    }
    figures_ = call_figures(options.choice, topology);
    if (options.measures()) runs_.emplace(context, topology, options.machine, options.iterations);
  }

  const std::vector<Collective>& collectives() const { return open_; }
  bool all_port(const Collective& collective) const {
    return cli::all_port(options_.algorithm, *collective.algorithm);
  }

  std::vector<ComparedCall> at(Bytes bytes) {
    std::vector<ComparedCall> calls;
    for (const Collective& open : open_) {
      ComparedCall call{open, open.text(), {}, {}, {}, {}};
      call.collective.settle(topology_, options_.model, bytes);
      call.weighed = weights_(call.collective, bytes);
      call.parts = time_parts(call.weighed, options_.model, bytes);
      if (runs_) {
        const auto answer = (*runs_)(call.collective, bytes, all_port(open));
        call.us = answer.us, call.reason = answer.reason;
      } else if (figures_) {
        const auto& answer = (*figures_)(call.collective, bytes, all_port(open));
        if (answer.figure) call.us = options_.choice.cell_figure(*answer.figure);
        call.reason = answer.reason;
      } else if (call.parts) {
        call.us = call.parts->total_us;
      } else {
        call.reason = no_counts;
      }
      calls.push_back(std::move(call));
    }
    return calls;
  }

  /// The sizes in (low, high] from which another algorithm is the fastest: to a byte by formula.
  std::vector<Crossover> crossovers(Bytes low, Bytes high, std::size_t first, std::size_t last) {
    if (first == last) return {};
    if (options_.choice.by != "formula") return {{low, high, first, last}};
    std::vector<Crossover> all;
    while (first != last) {
      Bytes before = low, after = high;
      std::size_t next = last;
      while (after - before > 1) {
        const Bytes middle = before + (after - before) / 2;
        const std::size_t here = fastest_of(at(middle));
        if (here == first) {
          before = middle;
        } else {
          after = middle, next = here;
        }
      }
      all.push_back({before, after, first, next});
      first = next, low = after;
    }
    return all;
  }

 private:
  const CompareCommand& options_;
  const Topology& topology_;
  Weights weights_;
  std::vector<Collective> open_;  // options that depend on the size are not set
  std::unique_ptr<CallFigures> figures_;
  std::optional<MeasuredTimes> runs_;
};

Json call_json(const ComparedCall& call, const CostModel& model, Bytes bytes) {
  Json json{{"algorithm", call.collective.name()},
            {"options", options_json(call.collective.options)}};
  put(json, "time_us", json_value(call.us), call.reason);
  add_model_json(json, call.weighed, model, bytes);
  return json;
}

/// Writes the rows as `plot` reads them.
void write_plot(const Context& context, const CompareCommand& options, const Json& json) {
  const bool is_html = options.plot.ends_with(".html");
  Json rows = Json::array();
  for (const Json& size : json["sizes"]) {
    for (const Json& call : size["calls"]) {
      if (!call["time_us"].is_number()) continue;
      Json row{{"operation", json["operation"]},
               {"topology", json["topology"]},
               {"nodes", json["nodes"]},
               {"algorithm", call["algorithm"]},
               {"block_bytes", size["block_bytes"]},
               {"provenance", provenance_json(context)}};
      if (options.choice.by_replay()) {
        row["time_ps"] = 1e6 * call["time_us"].get<double>();
      } else {
        row[options.measures() ? "time_median_us" : "model_time_us"] = call["time_us"];
      }
      rows.push_back(std::move(row));
    }
  }
  PlotOptions plot;
  (is_html ? plot.html : plot.svg) = options.plot;
  write_plots(context, {plot_file_of(std::move(rows), "compare")}, plot);
}

void require_options(const CompareCommand& options) {
  for (const CLI::Option* const option : options.of_measuring) {
    if (options.measures() || option->count() == 0) continue;
    throw UsageError(
        fmt::format("{} has no effect with --cost {}: nothing runs; use --cost measured",
                    option->get_name(), options.choice.by));
  }
  if (options.measures() && options.machine.in_processes()) {
    throw UsageError("--cost measured runs in this process: --executor threads or fibers");
  }
  require_writable(options.html);
  require_writable(options.plot);
}

ExitCode compare(Context& context, const CompareCommand& given) {
  CompareCommand options = given;
  const CommandLimit limit(context, options.machine.time_limit_ms());
  options.output.validate();
  require_options(options);
  options.model = options.choice.cost_model(options.model);
  if (options.choice.has_machine() && options.algorithm.ports == "auto") {
    const bool all = options.choice.resolve().profile->model.all_port;
    options.algorithm.ports = all ? "all" : "one";
  }
  std::vector<Bytes> sizes = parse_sizes(options.bytes);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (!options.schedule.empty()) {
    use_schedule(options.schedule, options.operation, options.on, options.call);
    options.algorithm.names.emplace_back(schedule_algorithm_name);
  }
  if (options.operation.empty()) throw UsageError("OPERATION is required");
  if (options.on.empty()) throw UsageError("--on is required");
  const Topology topology = parse_topology(options.on);
  topology.require_routable();
  if (options.measures()) require_workers(options.machine, topology);
  Comparison comparison(context, options, topology);
  const OutputOptions& output = options.output;
  const Operation operation = comparison.collectives().front().operation();
  const Arguments& arguments = comparison.collectives().front().arguments;
  print_setting(output, "compare",
                fmt::format("{}, {}", operation->name, names_text(options.algorithm)));
  if (const std::string text = arguments_text(operation, arguments); !text.empty()) {
    print_setting(output, "arguments", text);
  }
  print_setting(output, "topology", topology_text(topology));
  print_choice(output, options.choice, options.model);

  std::vector<Table::Column> columns{{.head = "block", .unit = "B", .width = 7}};
  for (const std::string& name : options.algorithm.names) {
    columns.push_back({.head = head_of(name), .unit = "us", .width = 9});
  }
  columns.push_back({.head = "fastest", .text = true, .width = 10});
  columns.push_back({.head = "next / fastest", .width = 7});
  Results results(context, output, {});
  Progress progress(context, output, "compare");
  std::vector<std::vector<ComparedCall>> rows;
  Json json{{"operation", operation->name}, {"topology", topology.name()},
            {"nodes", topology.nodes()},    {"arguments", arguments_json(operation, arguments)},
            {"cost", options.choice.by},    {"cost_model", cost_model_json(options.model)},
            {"sizes", Json::array()}};
  Table table(columns);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    progress.doing(size_text(sizes[i]));
    progress(static_cast<long>(i), std::ssize(sizes));
    rows.push_back(comparison.at(sizes[i]));
    const std::vector<ComparedCall>& calls = rows.back();
    const std::size_t best = fastest_of(calls);
    std::vector<std::string> cells{size_text(sizes[i])};
    Json list = Json::array();
    for (const ComparedCall& call : calls) {
      const bool at_least = options.choice.by == "formula" && call.weighed.at_least();
      cells.push_back(model_cell(call.us, at_least));
      list.push_back(call_json(call, options.model, sizes[i]));
    }
    const auto margin = margin_of(calls);
    cells.push_back(best < calls.size() ? calls[best].name : "-");
    cells.push_back(cell(margin));
    Json size{{"block_bytes", sizes[i]}};
    put(size, "fastest", best < calls.size() ? Json(calls[best].name) : Json(nullptr),
        "no algorithm has a time");
    put(size, "margin", json_value(margin), "no other algorithm has a time");
    size["calls"] = std::move(list);
    json["sizes"].push_back(std::move(size));
    table.add(std::move(cells));
  }
  print_table(output, table);

  std::vector<Crossover> crossovers;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    const std::size_t first = fastest_of(rows[i]), last = fastest_of(rows[i + 1]);
    if (std::max(first, last) >= options.algorithm.names.size()) continue;
    for (const Crossover& each : comparison.crossovers(sizes[i], sizes[i + 1], first, last)) {
      crossovers.push_back(each);
    }
  }
  json["crossovers"] = Json::array();
  for (const Crossover& each : crossovers) {
    json["crossovers"].push_back({{"after_bytes", each.after},
                                  {"from_bytes", each.from},
                                  {"slower", rows[0][each.first].name},
                                  {"faster", rows[0][each.next].name}});
    results.note(crossover_text(each, rows[0]));
  }
  if (crossovers.empty()) results.note("no crossover between these sizes");
  std::vector<std::string> lines = explain(rows.front(), sizes.front(), options.choice.by);
  if (sizes.size() > 1) {
    for (std::string& line : explain(rows.back(), sizes.back(), options.choice.by)) {
      lines.push_back(std::move(line));
    }
  }
  for (const std::string& line : lines) results.note(line);
  json["explanation"] = lines;
  if (options.choice.has_machine()) note_machine(results, options.choice.resolve());
  if (!options.plot.empty()) write_plot(context, options, json);
  if (!options.html.empty()) {
    const Bytes shown = crossovers.empty() ? sizes[sizes.size() / 2] : crossovers.front().from;
    draw_comparison(context, {.operation = options.operation,
                              .on = options.on,
                              .algorithm = options.algorithm,
                              .call = options.call,
                              .machine = options.choice.model_options(),
                              .replays = options.choice.by_replay(),
                              .bytes = std::to_string(shown),
                              .html = options.html});
  }
  results.keep_whole(std::move(json));
  results.finish(true);
  return passed;
}

}  // namespace

Action add_compare(CLI::App& program) {
  auto options = std::make_shared<CompareCommand>();
  CLI::App& app = *program.add_subcommand(
      "compare", "Compare a few algorithms by block size, and explain the difference");
  app.add_option("OPERATION", options->operation, operations_text());
  app.add_option("--on", options->on, "The network, for instance ring:8 torus:4x4 hypercube:3")
      ->type_name("TOPOLOGY")
      ->group("What");
  add_algorithm_options(app, options->algorithm);
  app.get_option("--algorithm")
      ->required()
      ->default_str("")
      ->type_name("NAME[:OPTION=VALUE..],NAME..")
      ->description(
          "Two or more names from `wormcube list`, separated by commas, each with its "
          "options: suh-mesh:order=parity");
  add_schedule_option(app, options->schedule, true);
  add_sizes_option(app, options->bytes, "Block sizes");
  add_call_options(app, options->call);
  add_choice_options(app, options->choice, options->model, "--cost",
                     {"formula", "replay", "measured"});
  app.add_option(
         "--plot", options->plot,
         "Plot the times by block size: HTML, SVG, PDF or PNG, according to the file extension")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Output");
  app.add_option("--html", options->html,
                 "Write a page that animates the algorithms side by side, with the block size of "
                 "the first crossover")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option("--iterations", options->iterations,
                 "With --cost measured: number of timed calls per algorithm")
      ->type_name("N")
      ->check(between(1, 1000000))
      ->capture_default_str()
      ->group("Measuring");
  add_machine_options(app, options->machine);
  for (const CLI::Option* const option : app.get_options()) {
    if (option->get_name() == "--time-limit") continue;  // for the whole command
    if (option->get_group() == "Machine" || option->get_group() == "Measuring") {
      options->of_measuring.push_back(option);
    }
  }
  add_output_options(app, options->output);
  app.footer(
      "The table has a row for each block size and a column for each algorithm's time: modelled as "
      "in `list`, replayed on a machine, or measured on this computer. Below the table are the "
      "sizes at which the fastest algorithm changes (exact to the byte with --cost formula), and "
      "what decides at the smallest and at the largest size.\n\n"
      "Examples:\n"
      "  wormcube compare allreduce --on hypercube:6 --bytes 8..1M \\\n"
      "    --algorithm reduce-broadcast,recursive-doubling,reduce-scatter-allgather\n"
      "  wormcube compare alltoall --on torus:8x8 --algorithm suh-torus,shift --machine t3d\n"
      "  wormcube compare allgather --on torus:8x8 --algorithm bruck,swing --cost replay --plot "
      "a.svg");
  return [options](Context& context) { return compare(context, *options); };
}

}  // namespace wormcube::cli
