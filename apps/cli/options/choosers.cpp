// Choices by --cost.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/choosers.hpp"

#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/collectives/choose/measured.hpp"

#include <string>

#include <fmt/core.h>

namespace wormcube::cli {

std::unique_ptr<CallFigures> call_figures(const ChoiceOptions& choice, const Topology& topology) {
  if (choice.by_work()) return std::make_unique<EmulationWork>(topology);
  if (!choice.by_replay()) return nullptr;
  return std::make_unique<ReplayedTimes>(topology, choice.resolve().model);
}

std::unique_ptr<CallFigures> measured_times(Context& context, const Topology& topology,
                                            const MachineFlags& machine, int iterations) {
  return std::make_unique<MeasuredTimes>(topology, machine.resolve(context, false), iterations);
}

std::optional<NearWinners> near_winners(const ChoiceOptions& choice, const CostModel& cost,
                                        const Topology& topology) {
  if (choice.by != "formula") return std::nullopt;
  const std::optional<MachineModel> model =
      choice.has_machine() ? choice.resolve().model : machine_of(cost);
  if (!model) return std::nullopt;
  return NearWinners(topology, *model);
}

namespace {

AutoChooser with_progress(const Context& context, const std::string& by,
                          const OutputOptions& output, const AutoChooser& choose) {
  return [=, &context](const Choice& choice) {
    Progress progress(context, output, "auto by " + by);
    progress.doing(fmt::format("{} on {}", choice.operation->name, choice.topology.name()));
    return choose(choice);
  };
}

}  // namespace

AutoChooser auto_chooser(const Context& context, const ChoiceOptions& choice,
                         const OutputOptions& output, int virtual_channels) {
  if (choice.by_work()) return chooser_by_work(context, output);
  if (choice.by_replay()) {
    return replaying_chooser(context, choice.resolve().model, output, virtual_channels);
  }
  std::optional<MachineModel> machine;
  if (choice.has_machine()) machine = choice.resolve().model;
  return chooser_by_formula(context, output, machine, virtual_channels);
}

AutoChooser chooser_by_formula(const Context& context, const OutputOptions& output,
                               const std::optional<MachineModel>& machine, int virtual_channels) {
  return with_progress(context, "formula", output, [=](const Choice& choice) {
    return cheapest_or_near(choice, machine, virtual_channels);
  });
}

AutoChooser replaying_chooser(const Context& context, const MachineModel& model,
                              const OutputOptions& output, int virtual_channels) {
  return with_progress(context, "replay", output, [=](const Choice& choice) {
    return ReplayedTimes(choice.topology, model, virtual_channels).least(choice).collective;
  });
}

AutoChooser chooser_by_work(const Context& context, const OutputOptions& output) {
  return with_progress(context, "work", output, [](const Choice& choice) {
    return EmulationWork(choice.topology).least(choice).collective;
  });
}

}  // namespace wormcube::cli
