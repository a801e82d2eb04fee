// What the applications' commands share: the exchange's options, the figures of a run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/trace.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/common/algorithms.hpp"
#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/apps/common/run_trace.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

using apps::Algorithms, apps::Exchange, apps::RunFigures, apps::RunOptions;

/// Network, algorithms, machine and output of an application.
struct ApplicationOptions {
  std::string on = "torus:8x8";
  std::string algorithm = "auto", ports = "auto";
  CostModel model;  // as given; use cost_model()
  ChoiceOptions choice;
  double gigaflops = 0, memory_gb = 0;  // of the modelled machine, a second; 0: left out
  const CLI::Option *gigaflops_option = nullptr, *memory_option = nullptr;
  MachineFlags machine;
  TraceOptions trace;
  RunOptions run;
  bool no_verify = false;
  std::uint64_t seed = 1;
  const CLI::Option* seed_option = nullptr;
  bool overwrite = false;  // require_distinct_files asks
  OutputOptions output;

  /// The chooser for `auto`: replays with --cost replay; empty otherwise, and the formulas choose.
  AutoChooser chooser(const Context& context) const;
  /// Throws UsageError for an unknown exchange, or one that does not run with these ports.
  Exchange exchange(const Context& context) const;
  /// The same for an application of several collectives. \param operations  that the application
  /// calls
  Algorithms algorithms(const Context& context, std::vector<Operation> operations) const;
  /// Whether the machine has all ports. \param needed  an algorithm sends through all ports
  bool all_port(bool needed) const { return ports == "all" || needed; }
  CostModel cost_model() const { return choice.cost_model(model); }
  /// With --machine: the machine to replay the run on.
  std::optional<apps::ModelledMachine> modelled() const;
  RunOptions run_options() const;
  /// Throws UsageError, before anything is read, if a file cannot be written, is named twice, or is
  /// '-' but cannot be a stream; and for options that generate data together with an input file.
  /// \param input, output_file  of the command's own options; empty for none
  void validate(const std::string& input, const std::string& output_file) const;
};
/// The machine that an application runs on, in this process or in several.
class ApplicationMachine {
 public:
  /// \param trace  sees the nodes' waits; may be null
  ApplicationMachine(Context& context, const ApplicationOptions& options, const Topology& topology,
                     bool all_port, RunTrace* trace);
  const apps::Runner& runner() const { return *runner_; }
  const MachineOptions& options() const { return settings_; }

 private:
  MachineOptions settings_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Multicomputer> processes_;
  std::optional<apps::Runner> runner_;
};

/// One run of an application, from its options to its results, as all applications do it.
class ApplicationRun {
 public:
  /// Throws UsageError for options that contradict each other, before anything is read.
  /// \param name                "sort"
  /// \param input, output_file  of the command's own options; empty for none
  ApplicationRun(Context& context, const ApplicationOptions& options, const std::string& name,
                 const std::string& input, const std::string& output_file);
  const Topology& topology() const { return topology_; }
  /// The job's callbacks, for the progress line.
  RunOptions run_options();

  /// Builds the machine and returns work(runner). After a time limit, a deadlock or a signal JSON
  /// has the status, without figures.
  template <class Work>
  auto on_machine(bool all_port, const Work& work) {
    start(all_port);
    try {
      return work(machine_->runner());
    } catch (const TimeLimit& error) {
      results_.no_result(over_time_limit, error.what());
      throw;
    } catch (const Deadlock& error) {
      const std::string_view text = error.what();
      results_.no_result(in_deadlock, text.substr(0, text.find('\n')));
      throw;
    }
  }
  /// From here on: after on_machine().
  const MachineOptions& machine() const { return machine_->options(); }
  const apps::Runner& runner() const { return machine_->runner(); }
  /// Lets the processes write the output file, if there is one. If that fails, finish() reports it
  /// with the result.
  void write_output(const std::function<void()>& write);
  /// The figures with network and settings: the application's own fields follow.
  Json json(const Json& json, const RunFigures& figures) const;
  /// Writes the JSON with the verdict. \param passed  empty: not verified
  ExitCode finish(Json json, std::optional<bool> passed);

 private:
  void start(bool all_port);
  void begin(const MachineOptions& machine);

  Context& context_;
  const ApplicationOptions& options_;
  std::string output_file_;
  std::optional<UsageError> unwritten_;
  Topology topology_;
  Progress progress_;
  std::optional<RunTrace> trace_;
  std::optional<ApplicationMachine> machine_;
  Results results_;
  std::string name_;
};

/// The reason for figures that only verification gives.
inline constexpr const char* not_verified = "--no-verify";

/// --input and --column: a list of numbers. \param what  "Read the keys: .npy or .."
void add_input_options(CLI::App& app, std::string& input, std::string& column,
                       const std::string& what);

/// --overwrite: beside the options of the input files and --output.
void add_overwrite_flag(CLI::App& app, ApplicationOptions& options);

void add_application_options(CLI::App& app, ApplicationOptions& options);
/// The same for an application of several collectives. \param operations  "broadcast, reduce"
void add_application_options(CLI::App& app, ApplicationOptions& options,
                             std::string_view operations);

/// "2048" or "2048x1024". Throws UsageError unless it has `least` to `most` sizes, each 1 or more.
std::vector<std::size_t> parse_shape(std::string_view text, std::size_t least, std::size_t most);
std::string shape_text(const std::vector<std::size_t>& shape);

/// The '#' lines about the run: network, exchange, machine.
void print_run(const Context& context, const ApplicationOptions& options, const RunFigures& figures,
               const MachineOptions& machine);
/// The same for an application of several collectives.
void print_collectives_run(const Context& context, const ApplicationOptions& options,
                           const RunFigures& figures, const MachineOptions& machine);
/// The cost, as table rows of quantity, value, unit.
Table figures_table(const RunFigures& figures);
/// Of an application of one exchange.
Json figures_json(const RunFigures& figures);
/// Of an application of several collectives.
Json collectives_json(const RunFigures& figures);
/// The time on the modelled machine. \param figures  of an application
Json modelled_json(const ApplicationOptions& options, const RunFigures& figures);
/// Machine, runs, seed and cost model: the conditions of a measurement.
void add_settings_json(const Context& context, Json& json, const ApplicationOptions& options,
                       const MachineOptions& machine, Rank nodes);

double microseconds(std::chrono::nanoseconds time);
/// A rate; 0 if no time was measured.
double per_microsecond(std::size_t count, std::chrono::nanoseconds time);

/// Empty: not verified.
template <class Result>
std::optional<bool> verdict(const Result& result) {
  return result.verified() ? std::optional(result.passed()) : std::nullopt;
}

}  // namespace wormcube::cli
