// The options that several subcommands share, and how their texts are read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/output.hpp"
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/machine/machine.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// A check of a number option: at least this much. (CLI11's own message spells out the largest
/// double.)
CLI::Validator at_least(double least);

/// "64", "4K", "1M", "2G": bytes, suffixes binary. Throws UsageError.
Bytes parse_bytes(std::string_view text);

/// --on: one topology or several.
void add_on_option(CLI::App& app, std::vector<std::string>& on, bool required);
/// Parses each. Throws UsageError.
std::vector<Topology> parse_topologies(const std::vector<std::string>& on);

/// Which algorithm, and on which port model.
struct AlgorithmOptions {
  std::vector<std::string> names{"auto"};
  std::string ports = "auto";

  /// Exactly one algorithm is asked for, by name or as `auto`.
  bool single() const { return names.size() == 1 && names.front() != "all"; }
  /// Some choice is left to the cost model.
  bool chooses() const { return std::ranges::find(names, "auto") != names.end(); }
};
std::string names_text(const AlgorithmOptions& options);
void add_algorithm_options(CLI::App& app, AlgorithmOptions& options);

/// Algorithms that will run, and those of `all` that cannot, with the reason.
struct Selection {
  std::vector<const Algorithm*> algorithms;
  std::vector<std::string> refused;  // "NAME: reason"
};
/// Throws UsageError, with the algorithm's own text, for one that was named and does not run here.
Selection select(const AlgorithmOptions& options, Operation operation, const Topology& topology,
                 const Parameters& parameters);
/// The reason for a refusal, with the algorithm's name in front once.
std::string named(std::string_view algorithm, std::string_view reason);
/// Whether the machine has all ports when this algorithm runs.
bool all_port(const AlgorithmOptions& options, const Algorithm& algorithm);

/// The parameters of a collective call: root, algorithm variants, and the cost model's constants.
struct ParameterOptions {
  Parameters parameters;
  std::string order = "best", ring = "plus";

  /// The parameters with everything parsed.
  Parameters resolve() const;
};
void add_parameter_options(CLI::App& app, ParameterOptions& options);
/// "root 0, divisions 0, ...": for a '#' line.
std::string parameters_text(const Parameters& parameters);
std::string cost_model_text(const Parameters& parameters);
std::string_view to_string(MeshOrder order);
std::string_view to_string(MeshRing ring);

/// ts x startups + tw x m x transmission + tr x m x rearranged; nothing where a formula is missing.
std::optional<double> model_time_us(const Prediction& prediction, const Parameters& parameters);
/// {"startups", "transmission_blocks", "rearranged_blocks", "working_blocks", "link_load",
/// "contended_blocks"}
Json prediction_json(const Prediction& prediction);

/// How the machine runs: MachineOptions as texts.
struct MachineFlags {
  std::string nodes_as = "threads", eager_limit = "1K";
  std::size_t capacity = 4;
  int virtual_channels = 2;
  bool lock_step = false;
  double time_limit = 0;

  MachineOptions resolve(bool all_port) const;
};
void add_machine_options(CLI::App& app, MachineFlags& flags);
void add_virtual_channels_option(CLI::App& app, int& virtual_channels);
std::string machine_text(const MachineOptions& options);

/// "torus:8x8: ... (64 nodes, 256 links)"
std::string topology_text(const Topology& topology);
/// "one" or "all", and what that means.
std::string_view ports_text(bool all_port);

}  // namespace wormcube::cli
