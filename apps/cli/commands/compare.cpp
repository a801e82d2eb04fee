// wormcube compare: the times of a few algorithms by block size, where they cross, and why.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/draw.hpp"
#include "wormcube/apps/cli/commands/plots.hpp"
#include "wormcube/apps/cli/core/provenance.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/choosers.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/ranked.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/draw/picture.hpp"
#include "wormcube/collectives/choose/comparison.hpp"
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

/// The options that are chosen from a list and differ from their defaults: "form=parts:inner=ring".
std::string choices_text(const Options& options) {
  std::string text;
  for (std::size_t i = 0; i < options.declared().size(); ++i) {
    const Option& option = options.declared()[i];
    const std::int64_t value = options.values()[i];
    if (value == option.preset || (option.choices.empty() && option.name != "radix")) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ":", option.name, option.text(value));
  }
  return text;
}

/// Throws UsageError unless --algorithm names a few algorithms that run here.
void require_compared(const CompareCommand& options, Operation operation, const Topology& topology,
                      const Arguments& arguments) {
  for (const std::string& name : options.algorithm.names) {
    if (name == "auto" || name == "all") {
      throw UsageError(fmt::format(
          "compare needs the names of algorithms, not '{}'; `wormcube best` compares all", name));
    }
  }
  const Selection selection =
      select(options.algorithm, operation, topology, arguments, options.model, 1, false);
  if (selection.collectives.size() >= 2 && selection.collectives.size() <= most_compared) return;
  throw UsageError(
      fmt::format("--algorithm: compare needs 2 to {} algorithms, as in --algorithm A,B; given: {}",
                  most_compared, names_text(options.algorithm)));
}

/// "swing: form=latency up to 4K, form=parts from 8K": the cheapest options of names without any.
std::vector<std::string> forms(const Comparison& comparison, std::span<const Bytes> sizes,
                               std::span<const std::vector<ComparedCall>> rows) {
  const std::vector<Collective>& open = comparison.collectives();
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (open[i].text() != open[i].name()) continue;
    std::string line, last;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::string form = choices_text(rows[row][i].collective.options);
      if (row > 0 && form == last) continue;
      if (row > 0) line += fmt::format(" up to {}, ", size_text(sizes[row - 1]));
      line += form.empty() ? "default options" : form;
      last = form;
      if (row > 0) line += fmt::format(" from {}", size_text(sizes[row]));
    }
    if (line != "default options") lines.push_back(fmt::format("{}: {}", open[i].name(), line));
  }
  return lines;
}

/// A column's head, which may break after hyphens: "reduce- scatter- allgather".
std::string head_of(std::string_view name) {
  constexpr std::size_t width = 9;
  std::string head;
  for (const char c : name) {
    head += c;
    if (c == '-' && name.size() > width) head += ' ';
  }
  return head;
}

Json call_json(const ComparedCall& call, const CostModel& model, Bytes bytes) {
  Json json{{"algorithm", call.collective.name()},
            {"options", options_json(call.collective.options)}};
  put(json, "time_us", json_value(call.us), call.reason);
  add_model_json(json, call.weighed, model, bytes);
  return json;
}

/// Why cells have no time.
std::vector<std::string> reasons(std::span<const Bytes> sizes,
                                 std::span<const std::vector<ComparedCall>> rows) {
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (const ComparedCall& call : rows[row]) {
      if (call.us) continue;
      lines.push_back(
          fmt::format("{}, {}: no time: {}", call.name, size_text(sizes[row]), call.reason));
    }
  }
  return lines;
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
  if (!options.html.empty() && options.algorithm.names.size() > most_plays) {
    throw UsageError(
        fmt::format("--html shows up to {} algorithms side by side; --algorithm names {}",
                    most_plays, options.algorithm.names.size()));
  }
  if (!options.plot.empty() && !options.plot.ends_with(".html")) {
    apps::require_picture_format(apps::picture_format(options.plot));
  }
  require_writable(options.html);
  require_writable(options.plot);
}

ExitCode compare(Context& context, const CompareCommand& given) {
  CompareCommand options = given;
  const CommandLimit limit(context, options.machine.time_limit_ms());
  options.output.validate();
  options.model = options.choice.cost_model(options.model);
  if (options.choice.has_machine()) {
    const auto profile = options.choice.resolve().profile;
    options.algorithm.use_ports_of(profile->name, profile->model.all_port);
  }
  std::vector<Bytes> sizes = parse_sizes(options.bytes);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (!options.schedule.empty()) {
    use_schedule(options.schedule, options.operation, options.on, options.call);
    add_schedule_name(options.algorithm.names);
  }
  require_options(options);
  if (options.operation.empty()) throw UsageError("OPERATION is required");
  require_on(!options.on.empty(), options.operation);
  const Topology topology = parse_topology(options.on);
  topology.require_routable();
  if (options.measures()) require_workers(options.machine, topology);
  const OutputOptions& output = options.output;
  const Operation operation = parse_operation(options.operation);
  const Arguments arguments = options.call.resolve(operation);
  require_compared(options, operation, topology, arguments);
  const std::unique_ptr<CallFigures> figures =
      options.measures() ? measured_times(context, topology, options.machine, options.iterations)
                         : call_figures(options.choice, topology);
  Comparison comparison({.operation = operation,
                         .topology = topology,
                         .ports = options.algorithm.ports == "all" ? Ports::all : Ports::one,
                         .model = options.model,
                         .arguments = arguments},
                        options.algorithm.names, figures.get());
  print_setting(output, "compare",
                fmt::format("{}, {}", operation->name, names_text(options.algorithm)));
  if (const std::string text = arguments_text(operation, arguments); !text.empty()) {
    print_setting(output, "arguments", text);
  }
  print_setting(output, "topology", topology_text(topology));
  print_choice(output, options.choice, options.model);

  std::vector<Table::Column> columns{{.head = "block", .unit = "B", .width = 7}};
  for (std::size_t i = 0; i < options.algorithm.names.size(); ++i) {
    columns.push_back({.head = head_of(comparison.name(i)), .unit = "us", .width = 9});
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
  for (const std::string& line : forms(comparison, sizes, rows)) results.note(line);
  for (const std::string& line : reasons(sizes, rows)) results.note(line);

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
    const Bytes unit = comparison.unit();
    const Bytes shown = crossovers.empty() ? std::max(unit, sizes[sizes.size() / 2] / unit * unit)
                                           : crossovers.front().from;
    AlgorithmOptions drawn = options.algorithm;
    drawn.names.clear();
    for (const ComparedCall& call : comparison.at(shown)) {
      drawn.names.push_back(call.collective.text());
    }
    draw_comparison(context, {.operation = options.operation,
                              .on = options.on,
                              .algorithm = drawn,
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
          "Two or more names from `wormcube list`, separated by commas, each optionally with "
          "options (suh-mesh:order=parity); if you give none, the cheapest options are chosen for "
          "each block size");
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
                 "Write a page that animates the algorithms side by side, at the block size of "
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
  add_machine_options(app, options->machine, Executors::in_this_process);
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
      "the reasons why the fastest algorithm wins at the smallest and at the largest size.\n\n"
      "Examples:\n"
      "  wormcube compare allreduce --on hypercube:6 --bytes 8..1M \\\n"
      "    --algorithm reduce-broadcast,recursive-doubling,reduce-scatter-allgather\n"
      "  wormcube compare alltoall --on torus:8x8 --algorithm suh-torus,shift --machine t3d\n"
      "  wormcube compare allgather --on torus:8x8 --algorithm bruck,swing --cost replay --plot "
      "a.svg");
  return [options](Context& context) { return compare(context, *options); };
}

}  // namespace wormcube::cli
