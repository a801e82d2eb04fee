// What the applications' subcommands share: the exchange's options, the figures of a run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/algorithms.hpp"
#include "wormcube/apps/cli/options.hpp"
#include "wormcube/apps/cli/output.hpp"
#include "wormcube/apps/exchange.hpp"

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
  CostModel model;
  MachineFlags machine;
  RunOptions run;
  std::string verify = "on";
  std::uint64_t seed = 1;
  const CLI::Option* seed_option = nullptr;
  OutputOptions output;

  /// Throws UsageError for an exchange that does not exist, or does not run with these ports.
  Exchange exchange() const;
  /// The same for an application of several collectives. \param operations  that it calls
  Algorithms algorithms(std::vector<Operation> operations) const;
  /// Whether the machine has all ports. \param needed  some algorithm sends through all
  bool all_port(bool needed) const { return ports == "all" || needed; }
  RunOptions run_options() const;
  /// Throws UsageError, before anything is read, if a file cannot be written, is named twice, or is
  /// '-' where no stream can be; and for options that make data beside an input file.
  /// \param input, output_file  of the command's own options; empty for none
  void validate(const std::string& input, const std::string& output_file) const;
};
/// What an application runs on: a machine of this process or of several.
class ApplicationMachine {
 public:
  ApplicationMachine(const ApplicationOptions& options, const Topology& topology, bool all_port);
  const apps::Runner& runner() const { return *runner_; }
  const MachineOptions& options() const { return settings_; }

 private:
  MachineOptions settings_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Multicomputer> processes_;
  std::optional<apps::Runner> runner_;
};

void add_application_options(CLI::App& app, ApplicationOptions& options);
/// The same for an application of several collectives. \param operations  "broadcast, reduce"
void add_application_options(CLI::App& app, ApplicationOptions& options,
                             std::string_view operations);

/// "2048" or "2048x1024". Throws UsageError unless it has `least` to `most` sizes, each 1 or more.
std::vector<std::size_t> parse_shape(std::string_view text, std::size_t least, std::size_t most);
std::string shape_text(const std::vector<std::size_t>& shape);

/// The '#' lines that say what ran: network, exchange, machine.
void print_run(const ApplicationOptions& options, const RunFigures& figures,
               const MachineOptions& machine);
/// The same for an application of several collectives.
void print_collectives_run(const ApplicationOptions& options, const RunFigures& figures,
                           const MachineOptions& machine);
/// What it cost, as rows of a table of quantity, value, unit.
Table figures_table(const RunFigures& figures);
/// Of an application of one exchange.
Json figures_json(const RunFigures& figures);
/// Of an application of several collectives.
Json collectives_json(const RunFigures& figures);
/// Machine, runs, seed and cost model: what a result was measured with.
void add_settings_json(Json& json, const ApplicationOptions& options,
                       const MachineOptions& machine);

double microseconds(std::chrono::nanoseconds time);

}  // namespace wormcube::cli
