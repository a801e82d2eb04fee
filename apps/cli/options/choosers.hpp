// What --cost makes of the library's choices: figures, near winners, and choosers for `auto`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/model.hpp"
#include "wormcube/collectives/choose/near_winners.hpp"
#include "wormcube/collectives/choose/work.hpp"

#include <memory>
#include <optional>

namespace wormcube::cli {

/// The figures that decide; nullptr: formulas, or measurements.
std::unique_ptr<CallFigures> call_figures(const ChoiceOptions& choice, const Topology& topology);
/// Those of --cost measured.
std::unique_ptr<CallFigures> measured_times(Context& context, const Topology& topology,
                                            const MachineFlags& machine, int iterations);
/// NearWinners on --machine, or on a machine with these constants; nothing if there is none.
std::optional<NearWinners> near_winners(const ChoiceOptions& choice, const CostModel& cost,
                                        const Topology& topology);

// Choosers for select(), which show in progress what they choose.
/// By replay or work if the choice says so, otherwise by formula.
AutoChooser auto_chooser(const Context& context, const ChoiceOptions& choice,
                         const OutputOptions& output, int virtual_channels = 2);
/// \param machine  for near winners; empty: one with the cost model's constants
AutoChooser chooser_by_formula(const Context& context, const OutputOptions& output,
                               const std::optional<MachineModel>& machine = {},
                               int virtual_channels = 2);
/// \param model  to replay on
AutoChooser replaying_chooser(const Context& context, const MachineModel& model,
                              const OutputOptions& output, int virtual_channels);
AutoChooser chooser_by_work(const Context& context, const OutputOptions& output);

}  // namespace wormcube::cli
