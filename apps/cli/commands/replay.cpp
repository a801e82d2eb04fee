// wormcube replay: the time of schedules on a modelled machine, and its causes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/replay.hpp"

#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/replay_figures.hpp"
#include "wormcube/apps/cli/commands/sweep.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/choosers.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/model.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/ranked.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/apps/cli/options/trace.hpp"
#include "wormcube/apps/common/trace.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/weigh.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/replay/analysis.hpp"
#include "wormcube/runtime/schedule/text.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

struct ReplayCommand {
  SweepOptions what;
  std::string schedule;
  std::vector<std::string> bytes{"1K"};
  ModelOptions model;
  std::string by = "formula", messages = "auto", explain;
  TraceOptions trace;
  bool critical_path = false;
  double time_limit = 0;
  OutputOptions output;
};

class Replayer {
 public:
  Replayer(const ReplayCommand& options, const ModelOptions::Resolved& resolved, Results& results)
      : options_(options), resolved_(resolved), results_(results) {}

  ExitCode operator()(const ReplayTask& task, const Schedule& schedule, bool all_port) {
    MachineModel model = resolved_.model;
    model.all_port = all_port;
    const Routing routing(schedule.topology, options_.model.virtual_channels);
    ReplayTrace trace(options_.trace.cut(schedule.topology.nodes()));
    const ScheduleReport report = check(schedule, routing, all_port);
    require_matched(report);
    const Replay r =
        replay(schedule, routing, model,
               {.observer = options_.trace.wanted() ? &trace : nullptr, .checked = true});
    Json json = head(task, schedule, all_port);
    const UseOfLinks use = link_use(r, routing);
    const Losses lost = losses(schedule, model, r);
    const ReplayBounds bounds = bounds_of(task, schedule, routing, model);
    const LockStepForm form = lock_step_form(schedule, routing, model, report);
    std::optional<double> formula;
    bool at_least = false;
    const bool has_formula = task.collective != nullptr && !model.stores();
    if (has_formula) {
      const Weighed weighed = weigh(*task.collective, schedule.topology, task.block_bytes,
                                    resolved_.cost.bus_us.has_value());
      formula = weighed.us(resolved_.cost, task.block_bytes);
      at_least = weighed.at_least();
    }
    std::optional<double> efficiency;
    if (r.time && *r.time > 0) {
      efficiency = static_cast<double>(bounds.highest()) / static_cast<double>(*r.time);
    }
    put(json, "time_ps", r.time ? Json(*r.time) : Json(nullptr), first_line(r.deadlock));
    json["lock_step_form_ps"] = form.time;
    json["lock_step_form_exact"] = form.not_exact.empty();
    json["lock_step_form_note"] =
        form.not_exact.empty() ? "a replay in lock step takes exactly this" : form.not_exact;
    // If nothing was blocked, the replay took this time.
    json["uncontended_ps"] =
        r.time && r.blocked == 0 ? *r.time : uncontended_time(schedule, routing, model);
    put(json, "formula_us", json_value(formula),
        task.collective == nullptr ? of_a_file
        : has_formula              ? no_counts
                                   : "the model has no routers that store messages");
    json["formula_at_least"] = at_least;
    const char* const no_bound = task.collective == nullptr ? of_a_file : "no bound is known";
    Json bounds_json;
    const auto bound = [&](const char* name, const std::optional<Ticks>& value) {
      put(bounds_json, name, value ? Json(*value) : Json(nullptr), no_bound);
    };
    bound("startups_ps", bounds.startups);
    bound("ports_ps", bounds.ports);
    bound("links_ps", bounds.links);
    bounds_json["ports_of_schedule_ps"] = bounds.schedule.ports;
    bounds_json["links_of_schedule_ps"] = bounds.schedule.links;
    bounds_json["highest_ps"] = bounds.highest();
    json["bounds"] = std::move(bounds_json);
    put(json, "efficiency", json_value(efficiency), "no time");
    json["blocked_messages"] = r.blocked;
    json["blocked_ps"] = r.lost;
    json["lost_contention_ps"] = lost.contention;
    json["lost_ports_ps"] = lost.ports;
    json["lost_late_partners_ps"] = lost.late_partners;
    put(json, "busiest_link", use.name.empty() ? Json(nullptr) : Json(use.name),
        "no link was used");
    json["busiest_link_use"] = use.busiest;
    json["mean_link_use"] = use.mean;
    json["messages_in_all"] = r.messages.size();
    json["events"] = r.events;
    add_details(json, r, routing);
    put(json, "critical_path",
        options_.critical_path && r.time ? critical_path_json(critical_path(schedule, model, r))
                                         : Json(nullptr),
        options_.critical_path ? "a deadlock" : "--critical-path was not given");
    results_.add(cells(task, schedule, all_port, r, form, model_cell(formula, at_least), bounds,
                       efficiency, lost, use),
                 std::move(json));
    tell(task, schedule, routing, model, r, form);
    if (options_.trace.wanted()) {
      const std::string other =
          fmt::format(R"("topology":{},"replay":{})", Json(schedule.topology.name()).dump(),
                      Json(title(task, schedule)).dump());
      const TraceCounts counts = write_trace_file(options_.trace, [&](const auto& write) {
        return trace.write(write, schedule, routing, model, r, other);
      });
      results_.note(trace_text(options_.trace, counts));
    }
    return r.time ? passed : deadlock;
  }

 private:
  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }
  static std::string title(const ReplayTask& task, const Schedule& schedule) {
    return fmt::format("{} on {}", task.name, schedule.topology.name());
  }

  Json head(const ReplayTask& task, const Schedule& schedule, bool all_port) const {
    Json json;
    const Collective* const c = task.collective;
    put(json, "operation", c ? Json(c->operation()->name) : Json(nullptr), of_a_file);
    put(json, "algorithm", c ? Json(c->name()) : Json(nullptr), of_a_file);
    put(json, "options", c ? options_json(c->options) : Json(nullptr), of_a_file);
    put(json, "arguments", c ? arguments_json(c->operation(), c->arguments) : Json(nullptr),
        of_a_file);
    put(json, "schedule", c ? Json(nullptr) : Json(task.name), "recorded from the algorithm");
    json["topology"] = schedule.topology.name();
    json["nodes_in_all"] = schedule.topology.nodes();
    json["steps_in_all"] = schedule.steps();
    json["ports"] = ports_text(all_port);
    put(json, "block_bytes", c ? Json(task.block_bytes) : Json(nullptr), of_a_file);
    json["model"] = model_json(resolved_, options_.model.virtual_channels);
    return json;
  }

  void add_details(Json& json, const Replay& r, const Routing& routing) const {
    constexpr std::size_t many = 100'000;
    const bool wanted =
        options_.messages == "on" || (options_.messages == "auto" && r.messages.size() <= many);
    const bool has_json = !options_.output.json.empty() || !options_.output.jsonl.empty();
    const std::string reason =
        options_.messages == "off"
            ? "--messages off"
            : fmt::format("more than {} messages; --messages on lists them", many);
    Json messages = nullptr, nodes = nullptr, links = nullptr;
    if (wanted && has_json) {
      messages = Json::array();
      for (const ReplayedMessage& m : r.messages) messages.push_back(replayed_message_json(m));
      nodes = replayed_nodes_json(r);
      links = replayed_links_json(r, routing);
    }
    put(json, "messages", std::move(messages), reason);
    put(json, "nodes", std::move(nodes), reason);
    put(json, "links", std::move(links), reason);
  }

  static std::vector<std::string> cells(const ReplayTask& task, const Schedule& schedule,
                                        bool all_port, const Replay& r, const LockStepForm& form,
                                        const std::string& formula, const ReplayBounds& bounds,
                                        const std::optional<double>& efficiency, const Losses& lost,
                                        const UseOfLinks& use) {
    constexpr double percent = 100;
    const auto rounded = [](double value) { return fmt::format("{:.1f}", percent * value); };
    return {schedule.topology.name(),
            task.name,
            std::string(ports_text(all_port)),
            task.collective == nullptr ? "-" : std::to_string(task.block_bytes),
            r.time ? seconds_cell(*r.time) : "-",
            (form.not_exact.empty() ? "" : ">") + seconds_cell(form.time),
            formula,
            seconds_cell(bounds.highest()),
            efficiency ? rounded(*efficiency) : "-",
            std::to_string(r.blocked),
            seconds_cell(r.lost),
            seconds_cell(lost.ports),
            seconds_cell(lost.late_partners),
            rounded(use.busiest),
            rounded(use.mean),
            std::to_string(r.messages.size())};
  }

  /// Notes are filled to the line's width; a text with lines of its own becomes one note per line.
  void note_lines(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) results_.note(line);
  }

  void tell(const ReplayTask& task, const Schedule& schedule, const Routing& routing,
            const MachineModel& model, const Replay& r, const LockStepForm& form) {
    static_cast<void>(routing);
    if (!r.time) {
      note_lines(title(task, schedule) + ": DEADLOCK: " + r.deadlock);
      return;
    }
    if (!form.not_exact.empty()) {
      results_.note(
          "'>' before a lock-step time: a replay in lock step may take longer, because links or "
          "ports serve several messages in a step, or buffers are short");
    }
    if (options_.critical_path) {
      std::map<std::string_view, Ticks> parts;
      const std::vector<PathPiece> path = critical_path(schedule, model, r);
      for (const PathPiece& piece : path) parts[to_string(piece.kind)] += piece.to - piece.from;
      std::string text = title(task, schedule) + ": critical path:";
      for (const auto& [kind, ticks] : parts) {
        text += fmt::format(" {} {} us,", kind, microseconds_text(ticks));
      }
      text += fmt::format(" {} us in all", microseconds_text(*r.time));
      constexpr std::size_t listed = 40;
      for (std::size_t i = 0; i < std::min(path.size(), listed); ++i) {
        const PathPiece& p = path[i];
        text += fmt::format("\n  {:>12} us  {:<10} {} B, step {}, node {}",
                            microseconds_text(p.from), to_string(p.kind), p.bytes, p.step, p.node);
        if (p.peer >= 0) text += fmt::format(" to {}", p.peer);
      }
      if (path.size() > listed) {
        text += fmt::format("\n  .. {} more pieces in JSON", path.size() - listed);
      }
      note_lines(text);
    }
  }

  const ReplayCommand& options_;
  const ModelOptions::Resolved& resolved_;
  Results& results_;
};

/// Contradictory options other than the machine's.
void require_one_source(const ReplayCommand& options) {
  if (options.schedule.empty() && options.what.operation.empty()) {
    throw UsageError("missing operation: pass OPERATION and --on TOPOLOGY, or --schedule FILE");
  }
  if (options.schedule.empty() && options.what.on.empty()) {
    throw UsageError("missing network: pass --on, as in --on torus:4x4");
  }
}

ExitCode replay_command(Context& context, const ReplayCommand& given) {
  ReplayCommand options = given;
  const CommandLimit limit(context, milliseconds_of(options.time_limit));
  require_one_source(options);
  options.output.validate();
  options.trace.validate();
  const ModelOptions::Resolved resolved = options.model.resolve();
  if (resolved.profile) {
    options.what.algorithm.use_ports_of(resolved.profile->name, resolved.profile->model.all_port);
  }
  const OutputOptions& output = options.output;
  const auto print_model = [&] {
    if (resolved.profile) {
      print_setting(output, "machine", machine_text(*resolved.profile));
    }
    print_setting(output, "model", model_text(resolved.model));
    print_setting(output, "virtual channels",
                  fmt::format("{} per ring link", options.model.virtual_channels));
  };

  // With block sizes, another network or other algorithms it is the algorithm `schedule`.
  const bool with_own_sizes = options.what.operation.empty() && options.what.on.empty() &&
                              options.what.bytes_option->count() == 0 &&
                              options.what.algorithm.names == std::vector<std::string>{"auto"};
  if (!options.schedule.empty() && !with_own_sizes) {
    use_schedule(std::exchange(options.schedule, {}), options.what.operation, options.what.on,
                 options.what.call);
    add_schedule_name(options.what.algorithm.names);
  }
  if (!options.schedule.empty()) {
    const apps::ScheduleFile file = apps::read_steps(options.schedule);
    const Schedule& schedule = file.named->schedule;
    schedule.topology.require_routable();
    print_setting(output, "replay", options.schedule);
    print_setting(output, "topology", topology_text(schedule.topology));
    print_model();
    Results results(context, output,
                    replay_columns(schedule.topology.name().size(), options.schedule.size()));
    Replayer replayer(options, resolved, results);
    const ExitCode code =
        replayer({nullptr, 0, options.schedule}, schedule,
                 options.what.algorithm.ports == "all" ||
                     (options.what.algorithm.ports == "auto" && schedule.needs_all_ports()));
    if (!file.findings.empty()) {
      results.note(fmt::format("this file is wrong: {}; `wormcube check --schedule` lists all",
                               file.findings.front()));
    }
    note_machine(results, resolved);
    results.finish(true);
    return code;
  }

  Sweep sweep(options.what, parse_topologies(options.what.on), parse_sizes(options.bytes));
  if (!options.explain.empty()) {
    const Collective explained =
        parse_collective(sweep.operation(), options.explain, sweep.arguments());
    for (const Topology& topology : sweep.topologies()) explained.require(topology);
  }
  const AutoChooser choose =
      options.by == "replay"
          ? replaying_chooser(context, resolved.model, output, options.model.virtual_channels)
      : options.by == "work"
          ? chooser_by_work(context, output)
          : chooser_by_formula(context, output, resolved.model, options.model.virtual_channels);
  sweep.select(context, resolved.cost, choose);
  if (options.trace.wanted() && !sweep.is_single()) {
    throw UsageError("--trace needs a single algorithm, network and size");
  }

  print_setting(output, "replay",
                fmt::format("{}, algorithm {}{}", to_string(sweep.operation()),
                            names_text(options.what.algorithm),
                            options.what.algorithm.chooses() ? ", auto by " + options.by : ""));
  sweep.print_settings(output);
  print_model();
  std::size_t topology_width = 0, name_width = 0;
  for (const Topology& topology : sweep.topologies())
    topology_width = std::max(topology_width, topology.name().size());
  for (const Sweep::Row& row : sweep.rows())
    name_width = std::max(name_width, row.collective.text().size());
  Results results(context, output, replay_columns(topology_width, name_width));
  Replayer replayer(options, resolved, results);
  Progress progress(context, output, "replay");
  const auto make = [&](const Sweep::Row& row) {
    const Collective& collective = row.collective;
    const Schedule schedule =
        record_call(collective, row.topology, row.block_bytes, options.what.call.in_place);
    const ExitCode code = replayer({&collective, row.block_bytes, collective.text()}, schedule,
                                   all_port(options.what.algorithm, *collective.algorithm));
    note_remark(results, *collective.algorithm, row.topology);
    note_bits(results, collective, row.topology);
    return code;
  };
  const auto explain = [&](const Topology& topology, Bytes bytes) {
    if (options.explain.empty()) return;
    Collective collective = parse_collective(sweep.operation(), options.explain, sweep.arguments());
    collective.require(topology);
    collective.settle(topology, resolved.cost, bytes);
    for (const std::string& line :
         explanation({&collective, bytes, collective.text()}, topology, resolved.cost)) {
      results.note(line);
    }
  };
  const ExitCode worst = sweep.each(context, output, results, progress, make, explain);
  note_machine(results, resolved);
  results.finish(sweep.is_single());
  return worst;
}

}  // namespace

Action add_replay(CLI::App& program) {
  auto options = std::make_shared<ReplayCommand>();
  CLI::App& app = *program.add_subcommand(
      "replay", "Simulate an algorithm or a schedule on a modelled machine, flit by flit");
  app.add_option("OPERATION", options->what.operation, operations_text());
  add_on_option(app, options->what.on, false);
  app.add_option("--schedule", options->schedule,
                 "Replay a schedule file, in the format that `show --write-schedule` writes, with "
                 "the file's own sizes. With --bytes, --on or --algorithm, its messages become the "
                 "algorithm `schedule`; the file must then name the blocks")
      ->type_name("FILE")
      ->check(file_name())
      ->group("What");
  add_algorithm_options(app, options->what.algorithm);
  options->what.bytes_option = add_sizes_option(app, options->bytes, "Block size");
  app.add_option("--cost", options->by,
                 "The cost that `auto` minimises. formula: modelled time; replay: replayed time; "
                 "work: the cost of emulation")
      ->type_name("formula|replay|work")
      ->check(one_of({"formula", "replay", "work"}))
      ->capture_default_str()
      ->group("What");
  add_model_options(app, options->model);
  add_call_options(app, options->what.call);
  app.add_flag("--critical-path", options->critical_path,
               "Print the critical path: the messages and the local work that make up the time")
      ->group("Reports");
  app.add_option("--explain", options->explain,
                 "Print this algorithm's formula with its values filled in")
      ->type_name("ALGORITHM")
      ->group("Reports");
  add_trace_options(app, options->trace,
                    "Trace the replay for Perfetto, with a process for each node, arrows for "
                    "messages, and busy channels");
  app.add_option(
         "--messages", options->messages,
         "List each message, node and link in the JSON output. auto: only up to 100 000 messages")
      ->type_name("on|off|auto")
      ->check(one_of({"on", "off", "auto"}))
      ->capture_default_str()
      ->group("Reports");
  add_command_limit_option(app, options->time_limit);
  add_output_options(app, options->output);
  app.footer(
      "The schedule is recorded without data and simulated in whole picoseconds: worms hold their "
      "paths and wait, flits take turns on links, and ports serve one message at a time "
      "(docs/explanation/replay.md). Results are the same on every host. Switching:\n"
      "  wormhole              the default\n"
      "  virtual cut-through   --slots of at least a message's length in flits: a waiting\n"
      "                        message is stored in one buffer and frees the links\n"
      "                        behind it\n"
      "  store-and-forward     --store-and-forward once|each; in packets: --packet BYTES\n"
      "  circuit switching     not modelled; `run` reserves whole paths before it moves data\n"
      "Columns:\n"
      "  time       time of the slowest node\n"
      "  lock step  closed-form time if nodes were synchronised after each step; '>':\n"
      "             the true value may be larger\n"
      "  formula    modelled time, as in `list`: hops, ports and contention included\n"
      "  bound      time that no algorithm can beat (for a file, time that its\n"
      "             messages cannot beat)\n"
      "  eff.       efficiency: bound / time\n"
      "  blocked    number of messages that waited for others, or shared a link\n"
      "  busiest    fraction of the time in which the busiest link carries flits\n"
      "  With --wide:\n"
      "  lost       time lost by all blocked messages together\n"
      "  at ports   time in queues at injection and ejection ports\n"
      "  late       time from when a receive is posted to when its send is posted\n"
      "  mean       the same fraction as in `busiest`, averaged over all links\n\n"
      "The exit code is 3 if the model deadlocks; the report then shows the cycle.\n\n"
      "Examples:\n"
      "  wormcube replay alltoall --on torus:8x8 --algorithm all --bytes 64,4K\n"
      "  wormcube replay alltoall --on torus:16x16 --algorithm all --machine t3d\n"
      "  wormcube replay alltoall --on ring:8 --algorithm shift --lockstep --critical-path\n"
      "  wormcube replay broadcast --on mesh:8x8 --algorithm halving --trace trace.json\n"
      "  wormcube show alltoall --on ring:4 --write-schedule s.txt; wormcube replay --schedule "
      "s.txt");
  return [options](Context& context) { return replay_command(context, *options); };
}

}  // namespace wormcube::cli
