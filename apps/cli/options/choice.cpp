// The cost that `auto` minimizes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/choice.hpp"

#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/table.hpp"

#include <utility>

#include <fmt/format.h>

namespace wormcube::cli {

ModelOptions ChoiceOptions::model_options() const {
  ModelOptions options;
  options.machine = machine;
  for (const auto& [flag, text] :
       {std::pair(cost.startup, &options.startup), std::pair(cost.transfer, &options.transfer),
        std::pair(cost.rearrange, &options.rearrange), std::pair(cost.combine, &options.combine),
        std::pair(cost.hop, &options.hop)}) {
    if (flag != nullptr && flag->count() > 0) *text = flag->results().back();
  }
  options.startup_option = cost.startup;
  options.transfer_option = cost.transfer;
  options.rearrange_option = cost.rearrange;
  options.combine_option = cost.combine;
  return options;
}

std::string ChoiceOptions::ports_or_machines(const std::string& given) const {
  if (!given.empty()) return given;
  if (!has_machine()) return "both";
  return resolve().profile->model.all_port ? "all" : "one";
}

CostModel ChoiceOptions::cost_model(const CostModel& given) const {
  return has_machine() ? resolve().cost : given;
}

void add_machine_costs(CLI::App& app, ChoiceOptions& choice, CostModel& model) {
  choice.cost = add_cost_options(app, model);
  app.add_option("--machine", choice.machine,
                 "Take the cost model's constants from a machine profile (listed by `wormcube "
                 "machines`); explicit options override the profile")
      ->type_name("NAME|FILE.json")
      ->group("Cost model (for `auto` and modelled times)");
}

void add_choice_options(CLI::App& app, ChoiceOptions& choice, CostModel& model,
                        const std::string& name, const std::vector<std::string>& values) {
  add_machine_costs(app, choice, model);
  std::string help =
      "The cost by which to compare algorithms. formula: modelled time; replay: simulated time on "
      "--machine, or on a machine with these constants (docs/explanation/replay.md)";
  for (const std::string& value : values) {
    if (value == "work")
      help += "; work: the cost of emulation, from the messages and bytes of all nodes";
    if (value == "measured") help += "; measured: time on this computer";
  }
  app.add_option(name, choice.by, help)
      ->type_name(fmt::format("{}", fmt::join(values, "|")))
      ->check(one_of(values))
      ->capture_default_str()
      ->group("Cost model (for `auto` and modelled times)");
}

void print_choice(const OutputOptions& output, const ChoiceOptions& choice,
                  const CostModel& model) {
  print_setting(output, "cost model", cost_model_text(model));
  if (choice.by_work()) {
    print_setting(output, "chosen by",
                  fmt::format("work: bytes that all nodes send, rearrange and combine (x {}), plus "
                              "{} per message, {} per link of its route, {} per piece at either "
                              "end and per block rearranged, {} per step of a node",
                              work_of_combined_byte, work_of_message, work_of_link, work_of_piece,
                              work_of_step));
  }
  if (!choice.has_machine() && !choice.by_replay()) return;
  const ModelOptions::Resolved resolved = choice.resolve();
  if (resolved.profile) {
    print_setting(output, "modelled on", machine_text(*resolved.profile));
  }
  if (choice.by_replay()) print_setting(output, "replayed on", model_text(resolved.model));
  if (!resolved.profile) return;
  for (const std::string& text : resolved.profile->cautions()) {
    print_note(output, fmt::format("{}: {}", resolved.profile->name, text));
  }
}

void note_machine(Results& results, const ModelOptions::Resolved& resolved) {
  if (!resolved.profile) return;
  for (const std::string& text : resolved.profile->cautions()) {
    results.note(fmt::format("{}: {}", resolved.profile->name, text));
  }
}

}  // namespace wormcube::cli
