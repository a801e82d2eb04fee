// Options and figures of the applications.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/application.hpp"

#include "wormcube/apps/cli/options/cluster.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/modelled.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <charconv>
#include <cmath>

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

void add_options(CLI::App& app, ApplicationOptions& options, const std::string& algorithm_help,
                 const char* algorithm_type) {
  app.add_option("--on", options.on,
                 "The network: torus:8x8, mesh:5x3, hypercube:4, ring:1 (one node), ...")
      ->type_name("TOPOLOGY")
      ->capture_default_str()
      ->group("What");
  app.add_option("--algorithm", options.algorithm, algorithm_help)
      ->type_name(algorithm_type)
      ->capture_default_str()
      ->group("What");
  app.add_option(
         "--ports", options.ports,
         "Messages that a node sends and receives at a time; auto: what the algorithm was made for")
      ->type_name("auto|one|all")
      ->check(CLI::IsMember({"auto", "one", "all"}))
      ->capture_default_str()
      ->group("What");
  add_on_off_option(app, "--verify", options.verify, "Check the result", "Measuring");
  app.add_option("--iterations", options.run.iterations,
                 "Timed runs; the figures are those of the median run")
      ->type_name("N")
      ->check(between(1, 1000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--warmup", options.run.warmup, "Runs before the timed ones")
      ->type_name("N")
      ->check(between(0, 1000000))
      ->capture_default_str()
      ->group("Measuring");
  options.seed_option = app.add_option("--seed", options.seed, "For generated data")
                            ->type_name("N")
                            ->check(whole_number())
                            ->capture_default_str()
                            ->group("What");
  add_machine_options(app, options.machine);
  add_choice_options(app, options.choice, options.model);
  const auto add_rate = [&app](const char* name, double& rate, const char* unit, const char* help) {
    return app.add_option(name, rate, help)
        ->type_name(unit)
        ->check(between(1e-3, 1e9))
        ->group("Modelled machine (--machine)");
  };
  options.gigaflops_option =
      add_rate("--flops", options.gigaflops, "GFLOPS",
               "Operations of a modelled node, billions a second; without it computing is left out "
               "of the modelled time, unless --memory-rate is given");
  options.memory_option = add_rate(
      "--memory-rate", options.memory_gb, "GB_PER_S",
      "Memory that a modelled node goes through, billions of bytes a second: a phase takes "
      "the longer of this and --flops");
  add_output_options(app, options.output, true, false);
  add_trace_options(app, options.trace,
                    "One run more as a trace for Perfetto by this computer's clock");
}

Ports ports_to_choose(const ApplicationOptions& options) {
  return options.ports == "all" ? Ports::all : Ports::one;
}

void require_ports(const ApplicationOptions& options, const Algorithm& algorithm) {
  if (options.ports != "one" || algorithm.ports != Ports::all) return;
  throw UsageError(fmt::format(
      "{}: sends through all ports of a node at once, but --ports one allows one message each "
      "way; use --ports all (or auto)",
      algorithm.name));
}

}  // namespace

void add_application_options(CLI::App& app, ApplicationOptions& options) {
  add_options(
      app, options,
      "The exchange inside the transpositions: an alltoall algorithm (blocks padded to "
      "equal size), an alltoallv one (exact blocks), or auto: the cheapest alltoall by "
      "formula, or by replay or work (--auto-by). See `wormcube list alltoall --on TOPOLOGY`",
      "NAME[:OPTION=VALUE..]|auto");
}

void add_application_options(CLI::App& app, ApplicationOptions& options,
                             std::string_view operations) {
  add_options(
      app, options,
      fmt::format("The algorithms of its collectives ({}): OPERATION=NAME for one of them, "
                  "NAME for each that has it; the others, or all with auto: the cheapest "
                  "by formula, or by replay or work (--auto-by). See `wormcube list --on TOPOLOGY`",
                  operations),
      "[OPERATION=]NAME[:OPTION=VALUE..],..|auto");
}

AutoChooser ApplicationOptions::chooser(const Context& context) const {
  if (choice.by_work()) return chooser_by_work(context, output);
  if (!choice.by_replay()) return {};
  MachineModel replays = choice.resolve().model;
  replays.lock_step = machine.lock_step;
  return replaying_chooser(context, replays, output, machine.virtual_channels);
}

Exchange ApplicationOptions::exchange(const Context& context) const {
  Exchange exchange = find_exchange(algorithm, cost_model(), ports_to_choose(*this));
  exchange.chooser = chooser(context);
  if (exchange.collective.algorithm != nullptr) {
    require_ports(*this, *exchange.collective.algorithm);
  }
  return exchange;
}

Algorithms ApplicationOptions::algorithms(const Context& context,
                                          std::vector<Operation> operations) const {
  Algorithms chosen(algorithm, std::move(operations), cost_model(), ports_to_choose(*this),
                    chooser(context));
  for (const Collective& named : chosen.named()) require_ports(*this, *named.algorithm);
  return chosen;
}

std::optional<ModelledMachine> ApplicationOptions::modelled() const {
  if (!choice.has_machine()) return std::nullopt;
  ModelledMachine modelled{choice.resolve().model, machine.virtual_channels};
  // So many thousandths of a billion a second are as many in a microsecond.
  constexpr Ticks microsecond = 1'000'000;
  const auto rate = [](double billions) {
    return billions > 0 ? Rate{microsecond, std::llround(1000 * billions)} : Rate{};
  };
  modelled.model.operations = rate(gigaflops);
  modelled.model.memory = rate(memory_gb);
  modelled.model.lock_step = machine.lock_step;
  return modelled;
}

RunOptions ApplicationOptions::run_options() const {
  RunOptions resolved = run;
  resolved.verify = verify == "on";
  resolved.modelled = modelled();
  return resolved;
}

void ApplicationOptions::validate(const std::string& input, const std::string& output_file) const {
  output.validate();
  for (const std::string& file : {input, output_file}) {
    if (file == "-")
      throw UsageError("'-' is no file: inputs and --output take the name of a file");
  }
  require_writable(output_file);
  if (!choice.has_machine() && gigaflops_option->count() + memory_option->count() > 0) {
    throw UsageError("--flops and --memory-rate have no effect without --machine NAME");
  }
  trace.validate();
  if (trace.wanted() && machine.in_processes()) {
    throw UsageError(
        fmt::format("--trace has no effect with --nodes-as {}: it sees the nodes of "
                    "this process; use threads or fibers",
                    machine.nodes_as));
  }
  static_cast<void>(modelled());  // a machine that is not there is told before anything is read
  if (!input.empty() && seed_option != nullptr && seed_option->count() > 0)
    throw UsageError("--seed has no effect on data from a file");
}

ApplicationMachine::ApplicationMachine(Context& context, const ApplicationOptions& options,
                                       const Topology& topology, bool all_port, NodeObserver* trace)
    : settings_(options.machine.resolve(context, options.all_port(all_port))) {
  settings_.node_observer = trace;
  settings_.timing = true;  // its parts are printed
  if (options.machine.in_processes()) {
    processes_ = cluster_machine(context, options.machine, topology, settings_.timing);
    runner_ = on(*processes_);
  } else {
    machine_ = std::make_unique<Machine>(topology, settings_);
    runner_ = on(*machine_);
  }
}

namespace {

/// Before the network is parsed.
const ApplicationOptions& validated(const Context& context, const ApplicationOptions& options,
                                    const std::string& input, const std::string& output_file) {
  context.in_first_process([&] { options.validate(input, output_file); });
  return options;
}

}  // namespace

ApplicationRun::ApplicationRun(Context& context, const ApplicationOptions& options,
                               const std::string& name, const std::string& input,
                               const std::string& output_file)
    : context_(context),
      options_(validated(context, options, input, output_file)),
      output_file_(output_file),
      topology_(Topology::parse(options.on)),
      progress_(context, options.output, fmt::format("{} on {}", name, topology_.name())),
      results_(context, options.output, {}),
      name_(name) {
  require_cluster(context, options_.machine, topology_);
  require_workers(options_.machine, topology_);
  if (options_.trace.wanted()) trace_.emplace(topology_, options_.trace.cut(topology_.nodes()));
  progress_.doing("input");
  begin(options_.machine.resolve(context, options_.all_port(false)));
}

RunOptions ApplicationRun::run_options() {
  RunOptions run = options_.run_options();
  run.progress = [this](std::string_view phase) { progress_.doing(phase); };
  run.time_limit = options_.machine.time_limit_ms();
  if (trace_) run.traced = [this](const Program& program) { return trace_->traced(program); };
  return run;
}

void ApplicationRun::start(bool all_port) {
  progress_.doing("the machine");
  machine_.emplace(context_, options_, topology_, all_port, trace_ ? &*trace_ : nullptr);
  begin(machine());
}

void ApplicationRun::begin(const MachineOptions& machine) {
  Json settings{{"topology", topology_.name()}, {"nodes", topology_.nodes()}};
  add_settings_json(context_, settings, options_, machine, topology_.nodes());
  results_.begin_whole(std::move(settings));
}

void ApplicationRun::write_output(const std::function<void()>& write) {
  if (output_file_.empty()) return;
  try {
    write();
  } catch (const UsageError& error) {
    unwritten_ = error;
  }
}

Json ApplicationRun::json(const Json& figures_json, const RunFigures& figures) const {
  Json json = figures_json;
  json["topology"] = topology_.name();
  add_settings_json(context_, json, options_, machine(), topology_.nodes());
  put(json, "modelled",
      options_.choice.has_machine() ? modelled_json(options_, figures) : Json(nullptr),
      "--machine was not given");
  return json;
}

ExitCode ApplicationRun::finish(Json json, std::optional<bool> passed) {
  put(json, "passed", json_value(passed), not_verified);
  results_.keep_whole(std::move(json));
  if (trace_) {
    const std::string other =
        fmt::format(R"("topology":{},"run":{},"nodes_as":{})", Json(topology_.name()).dump(),
                    Json(name_).dump(), Json(options_.machine.nodes_as).dump());
    const TraceCounts counts = write_trace_file(
        options_.trace, [&](const auto& write) { return trace_->write(write, other); });
    results_.note(trace_text(options_.trace, counts));
  }
  results_.finish(true);
  if (unwritten_) throw *unwritten_;
  return passed.value_or(true) ? cli::passed : failed;
}

void add_overwrite_flag(CLI::App& app, ApplicationOptions& options) {
  app.add_flag("--overwrite", options.overwrite, "--output may be the file that --input reads")
      ->group("Data");
}

void add_input_options(CLI::App& app, std::string& input, std::string& column,
                       const std::string& what) {
  app.add_option("--input", input, what)->type_name("FILE")->check(file_name())->group("Data");
  app.add_option("--column", column,
                 "The CSV file's column: a name from its first line, or a number from 1")
      ->type_name("NAME")
      ->group("Data");
}

std::vector<std::size_t> parse_shape(std::string_view text, std::size_t least, std::size_t most) {
  std::vector<std::size_t> shape;
  for (std::string_view rest = text;;) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (error != std::errc{} || size == 0) break;
    shape.push_back(size);
    rest.remove_prefix(end - rest.data());
    if (rest.empty()) {
      if (shape.size() >= least && shape.size() <= most) return shape;
      break;
    }
    if (rest.front() != 'x') break;
    rest.remove_prefix(1);
  }
  throw UsageError(
      fmt::format("--shape '{}': expected {}, each a whole number in digits, 1 or more", text,
                  most == 1   ? "one size, as in 4096"
                  : least < 2 ? "one or two sizes, as in 4096 or 512x256"
                              : "two sizes, as in 512x256"));
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

double microseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

double per_microsecond(std::size_t count, std::chrono::nanoseconds time) {
  return time.count() > 0 ? static_cast<double>(count) / microseconds(time) : 0;
}

namespace {

void print_topology(const OutputOptions& output, const RunFigures& figures) {
  print_setting(output, "topology",
                fmt::format("{} ({} node{})", figures.topology, figures.nodes,
                            figures.nodes == 1 ? "" : "s"));
}

/// How `auto` has chosen; empty: somebody has named the algorithm.
std::string chosen_text(const ApplicationOptions& options) {
  if (options.algorithm != "auto") return {};
  if (options.choice.by_work()) return " (auto: least work by dry run)";
  return options.choice.by_replay() ? " (auto: first by replay)" : " (auto: cheapest by formula)";
}

/// "alltoall shift (auto: cheapest by formula) [remark], 3 in a run"
std::string text(const UsedCollective& used, int dimensions, const std::string& chosen) {
  return fmt::format("{} {}{}{}, {} in a run", used.operation, used.algorithm, chosen,
                     is_of_results(used.remark, used.remark_from_dimensions, dimensions)
                         ? fmt::format(" [{}]", used.remark)
                         : "",
                     used.calls);
}

/// What is in the modelled time beside the messages.
std::string computing_text(const ApplicationOptions& options) {
  if (options.gigaflops == 0 && options.memory_gb == 0) {
    return "messages, rearranging, combining; computing is left out (--flops, --memory-rate)";
  }
  std::string text;
  if (options.gigaflops > 0) text += fmt::format("{} Gflop/s", options.gigaflops);
  if (options.memory_gb > 0) {
    text += fmt::format("{}{} GB/s of memory", text.empty() ? "" : " or ", options.memory_gb);
  }
  return fmt::format("messages, rearranging, combining, and computing at {}{}", text,
                     options.gigaflops > 0 && options.memory_gb > 0 ? ", the longer" : "");
}

void print_machine_and_runs(const Context& context, const ApplicationOptions& options,
                            const MachineOptions& machine) {
  const OutputOptions& output = options.output;
  if (options.algorithm == "auto" || options.choice.has_machine() ||
      options.choice.by != "formula") {
    print_choice(output, options.choice, options.cost_model());
  }
  if (options.choice.has_machine()) {
    print_setting(output, "modelled", computing_text(options));
  }
  print_machine(context, output, options.machine, machine);
  print_setting(output, "runs",
                fmt::format("{} timed, {} before them to warm up; the median by wall time is shown",
                            options.run.iterations, options.run.warmup));
}

}  // namespace

void print_run(const Context& context, const ApplicationOptions& options, const RunFigures& figures,
               const MachineOptions& machine) {
  const OutputOptions& output = options.output;
  const UsedCollective& exchange = figures.collectives.front();
  print_topology(output, figures);
  print_setting(output, "exchange",
                fmt::format("{}, blocks up to {}, padding {}",
                            text(exchange, figures.dimensions, chosen_text(options)),
                            bytes_text(static_cast<double>(figures.block_bytes)),
                            bytes_text(static_cast<double>(figures.padding))));
  print_setting(output, "ports",
                fmt::format("{} (the exchange is {}-port)", ports_text(machine.all_port),
                            to_string(exchange.ports)));
  print_machine_and_runs(context, options, machine);
}

void print_collectives_run(const Context& context, const ApplicationOptions& options,
                           const RunFigures& figures, const MachineOptions& machine) {
  const OutputOptions& output = options.output;
  print_topology(output, figures);
  for (const UsedCollective& used : figures.collectives) {
    print_setting(output, "collective", text(used, figures.dimensions, chosen_text(options)));
  }
  print_setting(output, "ports", ports_text(machine.all_port));
  print_machine_and_runs(context, options, machine);
}

namespace {

TimeSummary summarize_walls(const RunFigures& figures) {
  std::vector<double> times;
  for (const std::chrono::nanoseconds wall : figures.walls) times.push_back(microseconds(wall));
  return summarize(std::move(times));
}

}  // namespace

Table figures_table(const RunFigures& figures) {
  Table table({{"quantity", "", true}, {"value"}, {"unit", "", true}});
  const auto time = [&](std::string name, std::chrono::nanoseconds value) {
    table.add({std::move(name), cell_rate(microseconds(value)), "us"});
  };
  const auto count = [&](std::string name, auto value, std::string unit) {
    table.add({std::move(name), cell(static_cast<double>(value)), std::move(unit)});
  };
  time("wall time", figures.wall);
  if (figures.walls.size() > 1) {
    const TimeSummary wall = summarize_walls(figures);
    table.add({"wall time, least", cell_rate(wall.min), "us"});
    table.add({"wall time, quartile 1", cell_rate(wall.quartile1), "us"});
    table.add({"wall time, quartile 3", cell_rate(wall.quartile3), "us"});
    table.add({"wall time, most", cell_rate(wall.max), "us"});
  }
  if (const CoreTimes& cores = figures.cores; cores.cores > 0) {
    time(fmt::format("{} cores' time", cores.cores), cores.cores * figures.wall);
    time("  computing", cores.computing);
    time("  rearranging", cores.rearranging);
    time("  combining", cores.combining);
    time("  host copies", figures.host);
    time("  moving data", cores.moving_data);
    time("  network, switching", cores.network);
    time("  idle", cores.idle);
  }
  count("messages", figures.messages, "");
  count("bytes moved", figures.bytes_moved, "B");
  if (figures.has_links) {
    count("links used", figures.links_used, "");
    count("busiest link", figures.link_messages_max, "messages");
    count("bytes of the busiest link", figures.link_bytes_max, "B");
    count("host waits (headers)", figures.blocked, "");
  }
  count("peak memory of a node", figures.peak_bytes, "B");
  if (figures.schedule) {
    count("steps", figures.schedule->steps, "");
    count("start-ups", figures.schedule->startups, "");
    count("link load", figures.schedule->link_load_max, "messages per link and step");
    count("longest route", figures.schedule->max_hops, "links");
  }
  if (const auto& modelled = figures.modelled) {
    const auto ticks = [&](std::string name, Ticks value) {
      table.add({std::move(name), cell_rate(static_cast<double>(value) / 1e6), "us"});
    };
    if (!modelled->time) {
      table.add({"modelled time", "?", modelled->reason});
      return table;
    }
    ticks("modelled time", *modelled->time);
    ticks("  start-ups", modelled->startups);
    ticks("  transfer", modelled->transfer);
    ticks("  contention", modelled->contention);
    ticks("  rearranging", modelled->rearranging);
    ticks("  combining", modelled->combining);
    ticks("  computing", modelled->computing);
    count("modelled, blocked messages", modelled->blocked, "");
  }
  return table;
}

namespace {

void add_collective_json(Json& json, const UsedCollective& used) {
  json["operation"] = used.operation;
  json["algorithm"] = used.algorithm;
  json["ports"] = to_string(used.ports);
  put(json, "remark", used.remark.empty() ? Json(nullptr) : Json(used.remark), "nothing to remark");
}

/// What every application has.
Json cost_json(const RunFigures& figures) {
  Json result{{"block_bytes", figures.block_bytes},
              {"padding_bytes", figures.padding},
              {"messages", figures.messages},
              {"bytes_moved", figures.bytes_moved},
              {"links_used", figures.links_used},
              {"link_messages_max", figures.link_messages_max},
              {"link_bytes_max", figures.link_bytes_max},
              {"blocked", figures.blocked},
              {"peak_bytes", figures.peak_bytes}};
  Json& times = result["times_us"] = Json::array();
  for (const std::chrono::nanoseconds wall : figures.walls) times.push_back(microseconds(wall));
  const TimeSummary wall = summarize_walls(figures);
  result["time_min_us"] = wall.min;
  result["time_quartile1_us"] = wall.quartile1;
  result["time_median_us"] = wall.median;
  result["time_quartile3_us"] = wall.quartile3;
  result["time_max_us"] = wall.max;
  result["median_run_us"] = {{"wall", microseconds(figures.wall)},
                             {"cores", figures.cores.cores},
                             {"computing", microseconds(figures.cores.computing)},
                             {"rearranging", microseconds(figures.cores.rearranging)},
                             {"combining", microseconds(figures.cores.combining)},
                             {"host", microseconds(figures.host)},
                             {"moving_data", microseconds(figures.cores.moving_data)},
                             {"network", microseconds(figures.cores.network)},
                             {"idle", microseconds(figures.cores.idle)}};
  if (!figures.has_links) {
    for (const char* name : {"links_used", "link_messages_max", "link_bytes_max", "blocked"}) {
      put(result, name, nullptr, no_links);
    }
  }
  if (figures.schedule) {
    const ScheduleReport& report = *figures.schedule;
    result["schedule"] = {{"steps", report.steps},
                          {"startups", report.startups},
                          {"transmission_bytes", report.transmission},
                          {"rearranged_bytes", report.rearranged},
                          {"byte_hops", report.byte_hops},
                          {"max_hops", report.max_hops},
                          {"link_load_max", report.link_load_max},
                          {"port_violations", report.port_violations},
                          {"matched", report.matched()},
                          {"deadlock_free", report.deadlock_free}};
  } else {
    put(result, "schedule", nullptr,
        "not recorded: too many messages for a dry run beside the real one");
  }
  return result;
}

}  // namespace

Json figures_json(const RunFigures& figures) {
  Json json{{"topology", figures.topology}, {"nodes", figures.nodes}};
  const UsedCollective& exchange = figures.collectives.front();
  add_collective_json(json, exchange);
  json["exchanges"] = exchange.calls;
  json.update(cost_json(figures));
  return json;
}

Json collectives_json(const RunFigures& figures) {
  Json json{{"topology", figures.topology}, {"nodes", figures.nodes}};
  json["collectives"] = Json::array();
  for (const UsedCollective& used : figures.collectives) {
    Json entry;
    add_collective_json(entry, used);
    entry["calls"] = used.calls;
    json["collectives"].push_back(std::move(entry));
  }
  json.update(cost_json(figures));
  return json;
}

void add_settings_json(const Context& context, Json& json, const ApplicationOptions& options,
                       const MachineOptions& machine, Rank nodes) {
  json["machine_ports"] = ports_text(machine.all_port);
  add_machine_json(context, json, options.machine, machine, nodes);
  json["iterations"] = options.run.iterations;
  json["warmup"] = options.run.warmup;
  json["seed"] = options.seed;
  json["cost_model"] = cost_model_json(options.cost_model());
}

Json modelled_json(const ApplicationOptions& options, const RunFigures& figures) {
  const auto& run = figures.modelled;
  Json json{{"model", model_json(options.choice.resolve(), options.machine.virtual_channels)}};
  json["model"]["lock_step"] = options.machine.lock_step;
  const auto rate = [&](const char* name, double value) {
    put(json, name, value > 0 ? Json(value) : Json(nullptr), "not given");
  };
  rate("gigaflops", options.gigaflops);
  rate("memory_gb_per_s", options.memory_gb);
  json["computing"] = options.gigaflops + options.memory_gb > 0 ? "counted" : "left out";
  const bool has_time = run && run->time;
  const std::string reason = run ? run->reason : "another process has it";
  put(json, "time_ps", has_time ? Json(*run->time) : Json(nullptr), reason);
  if (has_time) {
    json["parts_ps"] = {{"startups", run->startups},     {"transfer", run->transfer},
                        {"contention", run->contention}, {"rearranging", run->rearranging},
                        {"combining", run->combining},   {"computing", run->computing}};
    json["messages"] = run->messages;
    json["blocked_messages"] = run->blocked;
    json["blocked_ps"] = run->lost;
  }
  return json;
}

}  // namespace wormcube::cli
