// What `list` and `best` rank: which algorithms, for which operator, with which ports.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/collectives/choose/ranking.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// --algorithm, --schedule, --operator, --type and --any-bits.
struct RankedOptions {
  std::vector<std::string> names;  // empty: all
  std::string schedule;            // a file, ranked with them
  CallOptions call;
  bool any_bits = false;

  /// Registers the schedule, if there is one. It gives the operation and the network that the
  /// command line leaves open.
  void use(std::string& operation, std::vector<std::string>& on);
  /// Throws UsageError for a name that none of these operations has, and for an operator if none of
  /// them reduces.
  void require(std::span<const Operation> operations) const;
  /// For operations that do not reduce, without the operator.
  Arguments arguments(Operation operation) const;
  bool names_algorithm(const Algorithm& algorithm) const;
  Choice choice(Operation operation, const Topology& topology, const CostModel& model,
                Bytes block_bytes, Ports ports) const;
  /// ranking(), or the named ones alone.
  std::vector<Priced> rank(const Choice& choice, Weights& weights) const;
};
void add_ranked_options(CLI::App& app, RankedOptions& options);
/// The '#' lines: "sum on double", and what the names of other libraries stand for.
void print_operator(const OutputOptions& output, const RankedOptions& options,
                    std::span<const Operation> operations);

std::vector<Ports> ports_of(const std::string& text);
std::string_view ports_name(Ports ports);
/// "yes", "no", "exact"; "-" for an operation that combines nothing.
std::string same_bits_cell(const Collective& collective, const Topology& topology);
/// Prints a note below a table of results if nodes may end with different last bits.
void note_bits(Results& results, const Collective& collective, const Topology& topology);

}  // namespace wormcube::cli
