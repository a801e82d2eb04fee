// Replays that decide between algorithms whose modelled times are close.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/options/modelled.hpp"

#include <optional>
#include <span>
#include <vector>

namespace wormcube::cli {

/// The machine with these constants; nothing if one of them is not a whole number of picoseconds.
std::optional<MachineModel> machine_of(const CostModel& cost);

/// Decides for `best`, `list` and `auto` where they rank by formula. A formula takes all steps
/// together and adds what shares a link. In a replay a node goes on as soon as it can, and messages
/// wait for one another: an algorithm that shares links, or whose counts are not all known, can take
/// a third of its modelled time, or twice as long.
class NearWinners {
 public:
  /// \param topology  lives as long as this
  NearWinners(const Topology& topology, const MachineModel& model, int virtual_channels = 2);

  /// The replayed times of the calls that can win: those within 1.5 times of the lowest modelled
  /// time, and of the lowest replayed time, the runner-up among them. The others get none. None at
  /// all if each of these takes its modelled time, if they move more than 2^17 messages, blocks
  /// and packets in total, or on more than 256 nodes: `best` answers within seconds.
  /// \param ranked  as ranking() returns them
  std::vector<CallFigures::Answer> operator()(std::span<const Priced> ranked, Bytes block_bytes,
                                              Ports ports);
  /// The index of the lowest of these; the first where none has a time.
  static std::size_t winner(std::span<const CallFigures::Answer> replayed);

 private:
  ReplayedTimes times_;
  Rank nodes_;
  double bytes_at_a_time_;
};

/// NearWinners on --machine, or on a machine with these constants; nothing if there is none.
std::optional<NearWinners> near_winners(const ChoiceOptions& choice, const CostModel& cost,
                                        const Topology& topology, int virtual_channels = 2);

/// For select(): by replay or work if the choice says so, otherwise by formula.
AutoChooser auto_chooser(const Context& context, const ChoiceOptions& choice,
                         const OutputOptions& output, int virtual_channels = 2);
/// \param machine  for near winners; empty: one with the cost model's constants
AutoChooser chooser_by_formula(const Context& context, const OutputOptions& output,
                               const std::optional<MachineModel>& machine = {},
                               int virtual_channels = 2);

}  // namespace wormcube::cli
