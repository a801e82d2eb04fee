// The options that several subcommands share, and how their texts are read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/output/output.hpp"
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/machine/machine.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// A check of a number option: at least this much. (CLI11's own message spells out the largest
/// double.)
CLI::Validator at_least(double least);

/// The same with both ends.
CLI::Validator between(double least, double most);

/// A check of a number option: digits only, so that no sign is taken for a large number.
CLI::Validator whole_number();

/// "64", "4K", "1M", "2G": bytes, suffixes binary. Throws UsageError.
Bytes parse_bytes(std::string_view text);

/// "64", or "8..64K": 8, 16, .. up to 64K. Throws UsageError.
std::vector<Bytes> parse_byte_range(std::string_view text);
/// Each of them, in this order. Throws UsageError.
std::vector<Bytes> parse_sizes(const std::vector<std::string>& texts);
/// --bytes: one size or several.
CLI::Option* add_sizes_option(CLI::App& app, std::vector<std::string>& sizes, const char* what);

/// --on: one topology or several.
void add_on_option(CLI::App& app, std::vector<std::string>& on, bool required);
/// Parses each. Throws UsageError.
std::vector<Topology> parse_topologies(const std::vector<std::string>& on);
/// The one network of a command that takes one. Throws UsageError.
Topology parse_topology(const std::string& text);

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

/// Collectives that will run, and those that cannot, with the reason.
struct Selection {
  std::vector<Collective> collectives;
  std::vector<std::string> refused;  // "NAME: reason"
};
/// \param skip_unfit  an algorithm that was named and does not run here is refused, not an error:
///                    for lists that go over several networks
/// Throws UsageError, with the algorithm's own text, for one that was named and does not run here.
Selection select(const AlgorithmOptions& options, Operation operation, const Topology& topology,
                 const Arguments& arguments, const CostModel& model, Bytes block_bytes,
                 bool skip_unfit);
/// Throws UsageError, with the reasons, if nothing was selected for any of several networks.
void require_some(Operation operation, std::span<const Selection> selections);
/// The reason for a refusal, with the algorithm's name in front once.
std::string named(std::string_view algorithm, std::string_view reason);
/// Whether the machine has all ports when this algorithm runs.
bool all_port(const AlgorithmOptions& options, const Algorithm& algorithm);

/// The arguments of a call: --root, --by, --sources, --permutation, --operator, --type,
/// --in-place.
struct CallOptions {
  Rank root = 0;
  std::int64_t by = 1;
  std::string sources = "1", permutation = "complement", reduction = "sum", type = "double",
              in_place = "off";
  // Which of them were given: one that has no effect is refused.
  CLI::Option *root_option = nullptr, *by_option = nullptr, *sources_option = nullptr,
              *permutation_option = nullptr, *operator_option = nullptr, *type_option = nullptr,
              *in_place_option = nullptr;

  /// Throws UsageError for what the operation does not take, and for what is not there.
  Arguments resolve(Operation operation) const;
};
void add_call_options(CLI::App& app, CallOptions& options);
/// Throws UsageError if an option was given that changes nothing for this operation.
void require_effect(const CLI::Option* option, bool takes, Operation operation,
                    std::string_view why);
/// The same of a block's size: a barrier has none.
void require_data(const CLI::Option* bytes_option, Operation operation);
/// "root 0", "sum on double", ..: what the operation takes, for a '#' line; empty if nothing.
std::string arguments_text(Operation operation, const Arguments& arguments);
/// {"root": 0}, {"operator": "sum", "type": "double"}, ..
Json arguments_json(Operation operation, const Arguments& arguments);
/// {"order": "paper", "ring": "plus"}
Json options_json(const Options& options);

void add_cost_options(CLI::App& app, CostModel& model);
std::string cost_model_text(const CostModel& model);
Json cost_model_json(const CostModel& model);

/// "remark", and the reason if there is none.
void add_remark(Json& json, const Algorithm& algorithm);
/// Whether a remark belongs to results; not one on the networks where an algorithm is free of
/// contention: results are of one network, and `check` counts its load.
bool is_of_results(std::string_view remark);
/// The algorithm's remark, if it belongs there, below a table of results.
void note_remark(Results& results, const Algorithm& algorithm);

/// The model's time; nothing where a formula is missing.
std::optional<double> model_time_us(const Prediction& prediction, const CostModel& model,
                                    Bytes block_bytes);
/// {"startups", "transmission_blocks", ..}
Json prediction_json(const Prediction& prediction);

/// How the machine runs: MachineOptions as texts.
struct MachineFlags {
  std::string nodes_as = "threads", eager_limit = "1K";
  std::size_t capacity = 4;
  int virtual_channels = 2;
  bool lock_step = false;
  double time_limit = 0;
  const CLI::Option* eager_limit_option = nullptr;  // its preset depends on nodes_as

  /// Whether nodes live in MPI processes. What that takes: cluster.hpp.
  bool in_processes() const { return nodes_as.starts_with("mpi"); }
  std::chrono::milliseconds time_limit_ms() const;
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
