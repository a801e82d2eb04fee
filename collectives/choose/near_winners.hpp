// Replays that decide between algorithms whose modelled times are close.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/choose/replayed.hpp"

#include <optional>
#include <span>
#include <vector>

namespace wormcube {

/// The machine with these constants; nothing if one of them is not a whole number of picoseconds.
std::optional<MachineModel> machine_of(const CostModel& cost);

/// Decides for `best`, `list` and `auto` where they rank by formula. A formula takes all steps
/// together and adds what shares a link. In a replay a node goes on as soon as it can, and messages
/// wait for one another: an algorithm that shares links, or whose counts are not all known, can
/// take a third of its modelled time, or twice as long.
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

/// What `auto` picks by formula: the cheapest, or a near winner.
/// \param machine  for near winners; empty: one with the model's constants
Collective cheapest_or_near(const Choice& choice, const std::optional<MachineModel>& machine = {},
                            int virtual_channels = 2);

}  // namespace wormcube
