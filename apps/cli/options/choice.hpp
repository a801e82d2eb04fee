// The cost that `auto` minimizes (formula, replay or work), and the machine of the modelled times.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/model.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/collectives/choose/work.hpp"

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// --machine and --cost, used with the options of the cost model.
struct ChoiceOptions {
  std::string machine, by = "formula";
  CostFlags cost;

  bool by_replay() const { return by == "replay"; }
  bool by_work() const { return by == "work"; }
  bool has_machine() const { return !machine.empty(); }
  /// --ports one|all|both where the command line leaves it open: the machine's, or both.
  std::string ports_or_machines(const std::string& given) const;
  /// The machine to replay on: the profile, or the cost model's constants with flits of a byte. The
  /// command line overrides the profile. Throws UsageError for a time that is not a whole number of
  /// picoseconds.
  ModelOptions::Resolved resolve() const { return model_options().resolve(); }
  /// The same before it is resolved, for commands that take these options.
  ModelOptions model_options() const;
  /// With --machine the formulas use its constants.
  CostModel cost_model(const CostModel& given) const;
};

/// The cost model's options, and --machine.
void add_machine_costs(CLI::App& app, ChoiceOptions& choice, CostModel& model);
/// The same, with the cost that `auto` minimizes.
/// \param name  "--cost"
/// \param values  allowed values, "formula", "replay" and "work" among them
void add_choice_options(CLI::App& app, ChoiceOptions& choice, CostModel& model,
                        const std::string& name = "--cost",
                        const std::vector<std::string>& values = {"formula", "replay", "work"});
/// The '#' lines: the cost model, the machine, and the replayed model.
void print_choice(const OutputOptions& output, const ChoiceOptions& choice, const CostModel& model);
/// Prints the machine's cautions below the table.
void note_machine(Results& results, const ModelOptions::Resolved& resolved);

}  // namespace wormcube::cli
