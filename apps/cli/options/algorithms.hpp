// Options that name algorithms, and which of them a network admits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/common/algorithms.hpp"
#include "wormcube/collectives/core/registry.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// The algorithms, and the port model.
struct AlgorithmOptions {
  std::vector<std::string> names{"auto"};
  std::string ports = "auto";
  std::string machine;            ///< decides the ports, unless the user does; empty: none
  bool machine_all_port = false;  ///< for `auto`

  /// Whether the user requests exactly one algorithm, by name or as `auto`.
  bool single() const { return names.size() == 1 && names.front() != "all"; }
  /// Whether the cost model makes a choice.
  /// Notes the machine's ports: `auto` chooses for them.
  void choose_for(std::string_view name, bool all_port);
  /// Also gives the machine's ports to algorithms that were named.
  void use_ports_of(std::string_view name, bool all_port);
  bool chooses() const { return std::ranges::find(names, "auto") != names.end(); }
};
std::string names_text(const AlgorithmOptions& options);
void add_algorithm_options(CLI::App& app, AlgorithmOptions& options);
/// A check of --ports that refuses numbers and says what to use instead.
CLI::Validator no_number_of_ports();

using apps::AutoChooser;

/// Collectives that will run, and those that cannot, with the reason.
struct Selection {
  std::vector<Collective> collectives;
  std::vector<std::string> refused;  // "NAME: reason"
};
/// \param skip_unfit  a named algorithm that does not run here is refused and is no error: for lists
/// over several networks
/// \param choose  for `auto`; empty: the lowest modelled time Throws UsageError, with the
/// algorithm's own text, for one that was named and does not run here.
Selection select(const AlgorithmOptions& options, Operation operation, const Topology& topology,
                 const Arguments& arguments, const CostModel& model, Bytes block_bytes,
                 bool skip_unfit, const AutoChooser& choose = {});
/// Throws UsageError, with the reasons, if nothing was selected for any of several networks.
void require_some(Operation operation, std::span<const Selection> selections);
/// The names of a table's rows.
struct RowNames {
  std::vector<std::string> topologies, algorithms;
  void add(const Topology& topology, const Selection& selection);
};
/// Arguments with which a network can admit every operation: reductions sum doubles.
Arguments plain_arguments(Operation operation);
/// The reason for a refusal, with the algorithm's name in front once.
std::string named(std::string_view algorithm, std::string_view reason);
/// Whether this algorithm runs on an all-port machine.
bool all_port(const AlgorithmOptions& options, const Algorithm& algorithm);

/// {"order": "paper", "ring": "plus"}
Json options_json(const Options& options);

/// Sets "remark", or null and the reason.
void add_remark(Json& json, const Algorithm& algorithm);
/// Whether its remark applies to results on this network. A remark on contention-free networks does
/// not: results concern one network, and `check` counts its load.
bool is_of_results(std::string_view remark, int dimensions);
/// Prints the algorithm's remark below a table of results, if it applies.
void note_remark(Results& results, const Algorithm& algorithm, const Topology& topology);
/// Notes the refused algorithms: with reasons if they were requested by name or with --wide,
/// otherwise the names alone.
void note_refused(Results& results, const AlgorithmOptions& options, const OutputOptions& output,
                  std::span<const std::string> refused);

/// "one" or "all", with its meaning.
std::string_view ports_text(bool all_port);

}  // namespace wormcube::cli
