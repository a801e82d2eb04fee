// wormcube show: the messages of an algorithm, step by step, with their routes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/follow_block.hpp"
#include "wormcube/apps/cli/commands/node_sets.hpp"
#include "wormcube/apps/cli/commands/show_contents.hpp"
#include "wormcube/apps/cli/commands/show_explanation.hpp"
#include "wormcube/apps/cli/commands/show_json.hpp"
#include "wormcube/apps/cli/commands/show_picture.hpp"
#include "wormcube/apps/cli/commands/sweep.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/choosers.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/draw/overlay.hpp"
#include "wormcube/apps/draw/picture.hpp"
#include "wormcube/apps/draw/still.hpp"
#include "wormcube/apps/formats/chakra.hpp"
#include "wormcube/apps/formats/goal.hpp"
#include "wormcube/apps/formats/msccl.hpp"
#include "wormcube/apps/formats/pmpi.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/collectives/harness/naming.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/dataflow/named.hpp"
#include "wormcube/runtime/schedule/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

using apps::drawn_step;
using apps::DrawnMessage;
using apps::DrawnStep;
using apps::LinkLoad;
using apps::require_dot;
using apps::require_drawable;
using apps::step_csv;
using apps::step_dot;
using apps::step_table;

struct ShowCommand {
  SweepOptions what;  // one call, on this network
  std::string on;
  CostModel model;
  std::string bytes = "1K";
  long step = -1;
  Rank node = -1;
  int virtual_channels = 2;
  OutputOptions output;
  std::string dot, svg, schedule, goal, msccl, c;  // files, as in OutputOptions
  std::string chakra;                              // prefix of files
  double time_limit = 0;
  std::string schedule_file, block;
  bool contents = false;
  bool node_sets = false;
  bool explain = false;
  bool without_names = false;
  std::string text_limit = "256M";
};

/// The files of the outputs; only one of them may be standard output.
OutputOptions validated(const ShowCommand& options) {
  OutputOptions output = options.output;
  const std::array<const std::string*, 9> files{&output.json,      &output.jsonl, &output.csv,
                                                &options.dot,      &options.svg,  &options.c,
                                                &options.schedule, &options.goal, &options.msccl};
  if (std::ranges::count(files, std::string("-"), [](const auto* file) { return *file; }) > 1) {
    throw UsageError(
        "only one of --json, --jsonl, --csv, --dot, --svg, --write-schedule, --goal, --msccl "
        "and --c can write to standard output; name a file for the others");
  }
  for (const std::string* file : files) require_writable(*file);
  if (options.chakra == "-")
    throw UsageError("--chakra writes a file for each rank, PREFIX.RANK.et; name a prefix");
  if (!options.chakra.empty()) require_writable(options.chakra + ".0.et");
  apps::require_picture_format(apps::picture_format(options.svg));
  // A picture on standard output replaces the tables, as JSON does.
  for (const std::string* file :
       {&options.dot, &options.svg, &options.schedule, &options.goal, &options.msccl, &options.c}) {
    if (*file == "-") output.quiet = true;
  }
  return output;
}

/// A command that writes the whole schedule for other programs prints no steps.
bool has_tables(const ShowCommand& options) {
  return options.output.text() && options.dot != "-" && options.svg != "-" &&
         options.schedule.empty() && options.goal.empty() && options.msccl.empty() &&
         options.c.empty() && options.chakra.empty();
}

/// The algorithm's sets of nodes, if they are requested. Throws UsageError if it has none.
std::optional<NodeSets> requested_sets(const ShowCommand& options, const Collective& collective,
                                       const Topology& topology) {
  if (!options.node_sets) return std::nullopt;
  if (options.svg.empty()) throw UsageError("--node-sets marks nodes in pictures; add --svg FILE");
  return sets_to_mark(collective, topology);
}

/// Writes the JSON files; CSV is written elsewhere.
ExitCode written(const Context& context, OutputOptions output, Json json) {
  output.csv.clear();
  std::vector<Json> results;
  results.push_back(std::move(json));
  write_results(context, output, std::move(results), true);
  return passed;
}

/// Throws UsageError, before names are found, if the messages alone would exceed the limit.
void require_short_text(const Schedule& schedule, Bytes most) {
  constexpr std::string_view shortest = "send 0 to 1, ";
  std::size_t ops = 0;
  for (const RankLog& log : schedule.ranks) ops += log.ops.size();
  const Bytes least = ops * shortest.size();
  if (least <= most) return;
  throw UsageError(fmt::format(
      "the text would have at least {}, more than {}: raise the limit (--text-limit), or write "
      "sizes without names (--without-names)",
      bytes_text(static_cast<double>(least)), bytes_text(static_cast<double>(most))));
}

/// The requested steps.
std::vector<std::size_t> chosen_steps(const ShowCommand& options, std::size_t steps) {
  if (options.step >= 0) {
    if (static_cast<std::size_t>(options.step) >= steps) {
      throw UsageError(
          fmt::format("step {}: there are {} steps, numbered from 0", options.step, steps));
    }
    return {static_cast<std::size_t>(options.step)};
  }
  if ((!options.dot.empty() || !options.svg.empty()) && steps != 1) {
    throw UsageError(fmt::format(
        "a picture shows one step; choose one of the {} with --step, numbered from 0", steps));
  }
  std::vector<std::size_t> all(steps);
  for (std::size_t step = 0; step < steps; ++step) all[step] = step;
  return all;
}

/// All steps, or those chosen, as tables, pictures, CSV and JSON.
/// \param blocks  text after the number of steps: ", blocks of 1 KiB"
/// \param json    the schedule's settings
/// \param sets    marked in a picture; nullptr: none
/// \param named   the schedule with the names of values, for the files that need them
ExitCode show_steps(const Context& context, const ShowCommand& options, const OutputOptions& output,
                    const Schedule& schedule, Bytes block_bytes, std::string_view blocks, Json json,
                    const NodeSets* sets, const std::function<NamedSchedule()>& named) {
  const Topology& topology = schedule.topology;
  if (options.node >= topology.nodes()) {
    throw UsageError(fmt::format("node {} is out of range; {} has nodes 0 to {}", options.node,
                                 topology.name(), topology.nodes() - 1));
  }
  const Routing routing(topology, options.virtual_channels);
  if (!output.json.empty() && options.step < 0 && options.node < 0) {
    require_memory(fmt::format("the steps on {} as JSON", topology.name()),
                   json_bytes(schedule, routing),
                   "choose a step with --step or a node with --node");
  }
  const std::vector<std::size_t> steps = chosen_steps(options, schedule.steps());
  print_setting(output, "topology", topology_text(topology));
  print_setting(output, "steps", fmt::format("{}{}", schedule.steps(), blocks));
  json["topology"] = topology.name();
  json["nodes"] = topology.nodes();
  json["virtual_channels"] = options.virtual_channels;
  json["steps_in_all"] = schedule.steps();
  put(json, "node", options.node < 0 ? Json(nullptr) : Json(options.node), "all nodes are shown");
  Json& json_steps = json["steps"] = Json::array();
  const bool wants_json = !output.json.empty() || !output.jsonl.empty();
  Progress progress(context, output, "show");
  std::string csv;
  if (!options.schedule.empty() && !options.without_names) {
    require_short_text(schedule, parse_bytes(options.text_limit));
  }
  for (const std::size_t number : steps) {
    progress.doing(fmt::format("step {}", number));
    const DrawnStep step = drawn_step(schedule, routing, number);
    const DrawnStep shown = options.node < 0 ? step : step.of_node(options.node);
    if (has_tables(options)) {
      print(step_table(shown, routing,
                       {.block_bytes = block_bytes,
                        .links = options.node < 0,
                        .width = output.wide ? 0 : table_width()}));
    }
    if (wants_json) json_steps.push_back(step_json(step, shown, routing, block_bytes));
    if (!output.csv.empty())
      csv += step_csv(shown, routing, {.block_bytes = block_bytes, .heads = csv.empty()});
    write_text(context, options.dot, options.dot.empty() ? "" : step_dot(shown, routing));
    if (!options.svg.empty()) {
      write_text(context, options.svg,
                 apps::picture(step_svg(shown, routing, sets, nullptr),
                               apps::picture_format(options.svg)));
    }
  }
  write_text(context, output.csv, csv);
  written(context, output, std::move(json));
  if (!options.goal.empty()) write_text(context, options.goal, apps::goal_text(schedule));
  for (Rank rank = 0; !options.chakra.empty() && rank < topology.nodes(); ++rank) {
    write_text(context, fmt::format("{}.{}.et", options.chakra, rank),
               apps::chakra_trace(schedule, rank));
  }
  if (!options.schedule.empty() && options.without_names) {
    write_text(context, options.schedule, schedule_text(schedule));
  } else if (!options.schedule.empty()) {
    write_text(context, options.schedule,
               named_schedule_text(named(), parse_bytes(options.text_limit)));
  }
  for (const auto& [file, text] :
       {std::pair(&options.msccl, &apps::msccl_text), std::pair(&options.c, &apps::pmpi_text)}) {
    if (file->empty()) continue;
    NamedSchedule whole = named();
    write_text(context, *file, text(whole, whole.about.empty() ? "wormcube" : whole.about.front()));
  }
  return passed;
}

/// The block's route, hop by hop, as a table or JSON.
ExitCode show_block(const Context& context, const ShowCommand& options, const OutputOptions& output,
                    const Collective& collective, const Schedule& schedule, Json json) {
  const Topology& topology = schedule.topology;
  const auto [from, to] = parse_block(options.block, topology);
  const BlockWay way = follow_block(collective, schedule, from, to, options.what.call.in_place);
  print_setting(output, "topology", topology_text(topology));
  json["topology"] = topology.name();
  json["nodes"] = topology.nodes();
  json["block"] = print_way(output, way, from, to);
  return written(context, output, std::move(json));
}

/// What messages carry and nodes hold, from the names of values.
ExitCode show_contents(const Context& context, const ShowCommand& options,
                       const OutputOptions& output, const NamedSchedule& named,
                       std::span<const Phase> phases, const NodeSets* sets, Json json) {
  for (const std::string* const file : {&options.dot, &output.csv, &options.schedule, &options.goal,
                                        &options.msccl, &options.c, &options.chakra}) {
    if (!file->empty()) {
      throw UsageError("--contents writes text, JSON or a picture (--svg), and no other file");
    }
  }
  const Topology topology = named.schedule.topology;
  if (!options.svg.empty() && topology.nodes() > apps::most_labelled_nodes) {
    throw UsageError(fmt::format(
        "--contents --svg labels up to {} nodes; {} has {}; use a smaller network, or text",
        apps::most_labelled_nodes, topology.name(), topology.nodes()));
  }
  print_setting(output, "topology", topology_text(topology));
  const std::vector<std::size_t> steps = chosen_steps(options, named.schedule.steps());
  if (!options.svg.empty()) {
    const Routing routing(topology, options.virtual_channels);
    NamedSchedule copy = named;
    copy.schedule.phases.assign(phases.begin(), phases.end());
    DrawnStep step = drawn_step(copy.schedule, routing, steps.front());
    const std::vector<std::string> nodes = label_step(copy, step);
    if (options.node >= 0) step = step.of_node(options.node);
    write_text(
        context, options.svg,
        apps::picture(step_svg(step, routing, sets, &nodes), apps::picture_format(options.svg)));
  }
  print_contents(output, named, phases, steps, options.node, json);
  return written(context, output, std::move(json));
}

ExitCode show(Context& context, const ShowCommand& options) {
  const CommandLimit limit(context, milliseconds_of(options.time_limit));
  const OutputOptions output = validated(options);
  if (!options.schedule_file.empty()) {
    if (!options.what.operation.empty() || !options.on.empty() || !options.block.empty() ||
        options.explain || options.node_sets) {
      throw UsageError(
          "--schedule already defines the operation and the network, and it has no data, "
          "explanations or sets of nodes; do not pass OPERATION, --on, --block, --explain or "
          "--node-sets");
    }
    require_no_algorithms(options.what.algorithm.names);
    const apps::ScheduleFile file = apps::read_steps(options.schedule_file);
    print_setting(output, "show", "the schedule " + options.schedule_file);
    Json json{{"schedule", options.schedule_file}};
    if (options.contents) {
      if (!file.no_contents.empty()) {
        throw UsageError(fmt::format("{}: {}", options.schedule_file, file.no_contents));
      }
      return show_contents(context, options, output, *file.named, {}, nullptr, std::move(json));
    }
    ShowCommand of_file = options;
    of_file.without_names = options.without_names || !file.no_contents.empty();
    return show_steps(context, of_file, output, file.named->schedule, 0, "", std::move(json),
                      nullptr, [&] { return *file.named; });
  }
  if (options.what.operation.empty())
    throw UsageError("OPERATION is required (or a schedule: --schedule FILE)");
  require_on(!options.on.empty(), options.what.operation);
  Sweep sweep(options.what, {parse_topology(options.on)}, {parse_bytes(options.bytes)});
  const Operation operation = sweep.operation();
  const Topology& topology = sweep.topologies().front();
  if (options.node >= topology.nodes()) {
    throw UsageError(fmt::format("node {} is out of range; {} has nodes 0 to {}", options.node,
                                 topology.name(), topology.nodes() - 1));
  }
  if (!options.dot.empty()) require_dot(topology);
  if (!options.svg.empty()) require_drawable(topology);
  if (!options.what.algorithm.single())
    throw UsageError("show needs a single algorithm; `wormcube list` names them");
  sweep.select(context, options.model, chooser_by_formula(context, output));
  const Collective& collective = sweep.rows().front().collective;
  const Bytes bytes = sweep.rows().front().block_bytes;
  const std::string title = fmt::format("{} {}", operation->name, collective.text());
  const Program program =
      collective_program(collective,
                         contract_of(collective, topology.nodes(), bytes, 1, Pattern::words,
                                     options.what.call.in_place),
                         nullptr);
  Progress progress(context, output, "show " + title);
  progress.doing("dry run");
  const Schedule schedule =
      record_within_limits(fmt::format("show {} on {}", title, topology.name()), topology, program,
                           collective.arguments.root, title);
  const bool uneven = operation->sizes != Sizes::equal || !operation->moves_data;
  const Bytes block_bytes = uneven ? 0 : bytes;

  print_setting(output, "show", title);
  if (const std::string text = arguments_text(operation, sweep.arguments()); !text.empty()) {
    print_setting(output, "arguments", text);
  }
  std::string blocks;
  if (operation->moves_data)
    blocks = fmt::format(", blocks of {}", bytes_text(static_cast<double>(bytes)));
  Json json{{"operation", to_string(operation)},
            {"algorithm", collective.name()},
            {"options", options_json(collective.options)},
            {"arguments", arguments_json(operation, sweep.arguments())},
            {"block_bytes", bytes}};
  if (options.explain) {
    if (!options.output.csv.empty())
      throw UsageError("--explain writes sentences, not a table, so it has no CSV; use --json");
    print_explanation(output, *collective.algorithm, schedule, json);
    return written(context, output, std::move(json));
  }
  if (!options.block.empty())
    return show_block(context, options, output, collective, schedule, std::move(json));
  const auto with_names = [&] {
    NamedSchedule named = named_call(collective, topology, bytes, options.what.call.in_place);
    if (!options.schedule.empty() && named.about.size() > 1) print_note(output, named.about.back());
    return named;
  };
  const std::optional<NodeSets> sets = requested_sets(options, collective, topology);
  if (options.contents) {
    return show_contents(context, options, output, with_names(), schedule.phases,
                         sets ? &*sets : nullptr, std::move(json));
  }
  return show_steps(context, options, output, schedule, block_bytes, blocks, std::move(json),
                    sets ? &*sets : nullptr, with_names);
}

void add_file_option(CLI::App& app, const char* name, std::string& file, const char* what) {
  app.add_option(name, file, what)->type_name("FILE|-")->check(file_name())->group("Output");
}

}  // namespace

Action add_show(CLI::App& program) {
  auto options = std::make_shared<ShowCommand>();
  CLI::App& app = *program.add_subcommand(
      "show", "Show an algorithm's messages step by step, with their routes");
  app.add_option("OPERATION", options->what.operation, operations_text());
  app.add_option("--on", options->on, "The network, for instance ring:8 torus:4x4 hypercube:3")
      ->type_name("TOPOLOGY")
      ->group("What");
  app.add_option("--schedule", options->schedule_file,
                 "Show a schedule file instead, in the format that --write-schedule writes")
      ->type_name("FILE")
      ->check(file_name())
      ->group("What");
  app.add_flag(
         "--contents", options->contents,
         "Show which values each message carries, and what each node holds after each step: `3` is "
         "node 3's block, `3:5` its block for node 5, `3/1` a part of it, `{0..3}` a combination "
         "(docs/reference/schedules.md). With --svg, label each node in the picture with what it "
         "holds before the step")
      ->group("What");
  add_node_sets_option(app, options->node_sets);
  app.add_option("--block", options->block,
                 "Follow one block from one node to another: show every message that carries the "
                 "block or a part of it")
      ->type_name("FROM,TO")
      ->group("What");
  app.add_flag("--explain", options->explain,
               "Explain the algorithm and each phase in words, instead of printing the messages")
      ->group("What");
  add_algorithm_options(app, options->what.algorithm);
  app.add_option("--step", options->step, "Show only this step (the first is 0)")
      ->type_name("STEP")
      ->check(at_least(0))
      ->group("What");
  app.add_option("--node", options->node, "Show only what this node sends and receives")
      ->type_name("NODE")
      ->check(at_least(0))
      ->group("What");
  app.add_option("--bytes", options->bytes, "Block size")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("What");
  add_virtual_channels_option(app, options->virtual_channels);
  add_command_limit_option(app, options->time_limit);
  add_call_options(app, options->what.call);
  add_cost_options(app, options->model);
  add_output_options(app, options->output);
  add_file_option(app, "--dot", options->dot, "Write one step as a graph for Graphviz");
  add_file_option(app, "--svg", options->svg,
                  "Write one step as a picture: SVG, PDF or PNG, according to the file extension");
  add_file_option(
      app, "--write-schedule", options->schedule,
      "Write the whole schedule as text that --schedule can read (docs/reference/schedules.md)");
  add_file_option(app, "--goal", options->goal,
                  "Write the schedule as GOAL text, for LogGOPSim and ATLAHS");
  app.add_option("--chakra", options->chakra,
                 "Write the schedule as Chakra traces, a file PREFIX.RANK.et for each node, for "
                 "ASTRA-sim. After an error some of the files may exist")
      ->type_name("PREFIX")
      ->check(file_name())
      ->group("Output");
  add_file_option(
      app, "--msccl", options->msccl,
      "Write an allreduce, allgather, alltoall or reduce_scatter as MSCCL XML, for RCCL "
      "and MSCCL");
  add_file_option(
      app, "--c", options->c,
      "Write C code that replaces the MPI function, for real clusters (docs/how-to/cluster.md)");
  app.add_flag(
         "--without-names", options->without_names,
         "With --write-schedule: write only sizes, without the names of the blocks in each message")
      ->group("Output");
  app.add_option("--text-limit", options->text_limit,
                 "With --write-schedule: refuse to write names if the text would exceed this size")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("Output");
  app.footer(
      "A dry run executes every node's program without data and records its messages. The output "
      "is one table of messages per step, followed by the traffic of every link. Columns of the "
      "tables:\n"
      "  from, to  sending and receiving node\n"
      "  load      largest number of messages on one link of the route, including this\n"
      "            message; 1: no contention\n"
      "  moves     for each move, its dimension and signed hops, if the algorithm\n"
      "            chose the route; `-`: the router chose it\n"
      "  route     the links in the order in which they are reserved; `vc 1`: after\n"
      "            the dateline of a ring; `s0`: a switch of a tree\n\n"
      "With --node, `load` still counts the messages of all nodes.\n\n"
      "Examples:\n"
      "  wormcube show alltoall --on torus:8x8 --algorithm suh-torus --explain\n"
      "  wormcube show alltoall --on torus:4x4 --algorithm suh-torus --step 2\n"
      "  wormcube show alltoall --on torus:4x4 --algorithm suh-torus --node 5\n"
      "  wormcube show alltoall --on ring:8 --algorithm shift --step 3 --svg step3.svg\n"
      "  wormcube show alltoall --on mesh:6x6 --step 0 --contents --svg figure3.svg\n"
      "  wormcube show alltoall --on torus:8x8 --algorithm kim-a1 --step 0 --node-sets --svg "
      "a1.svg\n"
      "  wormcube show alltoall --on torus:4x4 --algorithm suh-torus --block 0,10\n"
      "  wormcube show broadcast --on mesh:4x4 --write-schedule -");
  return [options](Context& context) { return show(context, *options); };
}

}  // namespace wormcube::cli
