// Options that name algorithms, and what a network admits of them.
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

using apps::AutoChooser;

/// Collectives that will run, and those that cannot, with the reason.
struct Selection {
  std::vector<Collective> collectives;
  std::vector<std::string> refused;  // "NAME: reason"
};
/// \param skip_unfit  an algorithm that was named and does not run here is refused, not an error:
///                    for lists that go over several networks
/// \param choose      for `auto`; empty: the cheapest by formula
/// Throws UsageError, with the algorithm's own text, for one that was named and does not run here.
Selection select(const AlgorithmOptions& options, Operation operation, const Topology& topology,
                 const Arguments& arguments, const CostModel& model, Bytes block_bytes,
                 bool skip_unfit, const AutoChooser& choose = {});
/// Throws UsageError, with the reasons, if nothing was selected for any of several networks.
void require_some(Operation operation, std::span<const Selection> selections);
/// What the rows of a table are called.
struct RowNames {
  std::vector<std::string> topologies, algorithms;
  void add(const Topology& topology, const Selection& selection);
};
/// The reason for a refusal, with the algorithm's name in front once.
std::string named(std::string_view algorithm, std::string_view reason);
/// Whether the machine has all ports when this algorithm runs.
bool all_port(const AlgorithmOptions& options, const Algorithm& algorithm);

/// {"order": "paper", "ring": "plus"}
Json options_json(const Options& options);

/// "remark", and the reason if there is none.
void add_remark(Json& json, const Algorithm& algorithm);
/// Whether its remark belongs to results on this network; not one on the networks where an
/// algorithm is free of contention: results are of one network, and `check` counts its load.
bool is_of_results(std::string_view remark, int dimensions);
/// The algorithm's remark, if it belongs there, below a table of results.
void note_remark(Results& results, const Algorithm& algorithm, const Topology& topology);
/// Notes what was refused: with its reasons where it was asked for by name, or with --wide; else
/// the names.
void note_refused(Results& results, const AlgorithmOptions& options, const OutputOptions& output,
                  std::span<const std::string> refused);

/// "one" or "all", and what that means.
std::string_view ports_text(bool all_port);

}  // namespace wormcube::cli
