// Options and figures that the applications share.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/application.hpp"

#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/choosers.hpp"
#include "wormcube/apps/cli/options/cluster.hpp"
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
                 "The network, for instance torus:8x8, mesh:5x3, hypercube:4 or ring:1 (one node)")
      ->type_name("TOPOLOGY")
      ->capture_default_str()
      ->group("What");
  app.add_option("--algorithm", options.algorithm, algorithm_help)
      ->type_name(algorithm_type)
      ->capture_default_str()
      ->group("What");
  app.add_option("--ports", options.ports,
                 "How many messages a node sends and receives at a time. one: one of each; all: "
                 "one of each per link; auto: as many as the algorithm was designed for")
      ->type_name("auto|one|all")
      ->check(no_number_of_ports())
      ->check(one_of({"auto", "one", "all"}))
      ->capture_default_str()
      ->group("What");
  app.add_flag("--no-verify", options.no_verify, "Do not verify the result")->group("Measuring");
  app.add_option("--iterations", options.run.iterations,
                 "Number of timed runs; the figures are those of the median run")
      ->type_name("N")
      ->check(between(1, 1000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--warmup", options.run.warmup, "Number of untimed runs before the timed ones")
      ->type_name("N")
      ->check(between(0, 1000000))
      ->capture_default_str()
      ->group("Measuring");
  options.seed_option = app.add_option("--seed", options.seed, "Seed for generated data")
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
               "Speed of a modelled node in billions of operations per second; without --flops and "
               "--memory-rate, the modelled time does not include computation");
  options.memory_option =
      add_rate("--memory-rate", options.memory_gb, "GB_PER_S",
               "Memory bandwidth of a modelled node in billions of bytes per second; a phase takes "
               "as long as the slower of its memory accesses (at this rate) and its operations (at "
               "the rate of --flops)");
  add_output_options(app, options.output, true, false);
  add_trace_options(app, options.trace,
                    "Trace one extra run with this computer's clock, for Perfetto");
}

Ports ports_to_choose(const ApplicationOptions& options) {
  return options.ports == "all" ? Ports::all : Ports::one;
}

void require_ports(const ApplicationOptions& options, const Algorithm& algorithm) {
  if (options.ports != "one" || algorithm.ports != Ports::all) return;
  throw UsageError(
      fmt::format("{}: sends through all ports of a node at once, but --ports one allows one "
                  "message in each direction; use --ports all (or auto)",
                  algorithm.name));
}

}  // namespace

void add_application_options(CLI::App& app, ApplicationOptions& options) {
  add_options(
      app, options,
      "The algorithm that exchanges blocks in the transpositions: an alltoall algorithm (blocks "
      "are padded to equal size), an alltoallv algorithm (blocks have their exact sizes), or auto: "
      "the alltoall algorithm with the lowest modelled time (or, with --cost, the lowest replayed "
      "time or work). `wormcube list alltoall --on TOPOLOGY` lists the names",
      "NAME[:OPTION=VALUE..]|auto");
}

void add_application_options(CLI::App& app, ApplicationOptions& options,
                             std::string_view operations) {
  add_options(app, options,
              fmt::format("Algorithms for the collectives ({}): OPERATION=NAME sets the algorithm "
                          "for one operation; NAME alone sets it for every operation that has an "
                          "algorithm of that name. The other operations, or all with auto, use the "
                          "algorithm with the lowest modelled time (or, with --cost, the lowest "
                          "replayed time or work). `wormcube list --on TOPOLOGY` lists the names",
                          operations),
              "[OPERATION=]NAME[:OPTION=VALUE..],..|auto");
}

AutoChooser ApplicationOptions::chooser(const Context& context) const {
  if (!choice.by_replay()) {
    return auto_chooser(context, choice, output, machine.virtual_channels);
  }
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
  // A thousandth of a billion per second is one per microsecond.
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
  resolved.verify = !no_verify;
  resolved.modelled = modelled();
  return resolved;
}

void ApplicationOptions::validate(const std::string& input, const std::string& output_file) const {
  output.validate();
  for (const std::string& file : {input, output_file}) {
    if (file == "-")
      throw UsageError("'-' is not allowed here: inputs and --output need a file name");
  }
  require_writable(output_file);
  if (!choice.has_machine() && gigaflops_option->count() + memory_option->count() > 0) {
    throw UsageError("--flops and --memory-rate have no effect without --machine NAME");
  }
  trace.validate();
  if (trace.wanted() && machine.in_processes()) {
    throw UsageError(
        fmt::format("--trace has no effect with --executor {}: a trace covers only this process; "
                    "use threads or fibers",
                    machine.executor));
  }
  static_cast<void>(modelled());  // an unknown machine is an error before anything is read
  if (!input.empty() && seed_option != nullptr && seed_option->count() > 0)
    throw UsageError("--seed has no effect on data from a file");
}

ApplicationMachine::ApplicationMachine(Context& context, const ApplicationOptions& options,
                                       const Topology& topology, bool all_port, RunTrace* trace)
    : settings_(options.machine.resolve(context, options.all_port(all_port))) {
  if (trace != nullptr) trace->observe(settings_);
  settings_.timing = true;  // the report prints its parts
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
  options_.machine.transport.require(options_.machine.executor, topology_);
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
        fmt::format(R"("topology":{},"run":{},"executor":{})", Json(topology_.name()).dump(),
                    Json(name_).dump(), Json(options_.machine.executor).dump());
    const TraceCounts counts = write_trace_file(
        options_.trace, [&](const auto& write) { return trace_->write(write, other); });
    results_.note(trace_text(options_.trace, counts));
  }
  results_.finish(true);
  if (unwritten_) throw *unwritten_;
  return passed.value_or(true) ? cli::passed : failed;
}

void add_overwrite_flag(CLI::App& app, ApplicationOptions& options) {
  app.add_flag("--overwrite", options.overwrite, "Allow --output to overwrite an input file")
      ->group("Data");
}

void add_input_options(CLI::App& app, std::string& input, std::string& column,
                       const std::string& what) {
  app.add_option("--input", input, what)->type_name("FILE")->check(file_name())->group("Data");
  app.add_option(
         "--column", column,
         "Column of the CSV file: a name in its first line, or a column number (the first is 1)")
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

}  // namespace wormcube::cli
