// Times of calls on a modelled machine, by replay.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/choose/figures.hpp"
#include "wormcube/runtime/replay/replay.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace wormcube {

/// Times in ticks on a machine. A call may have none: a deadlock.
class ReplayedTimes final : public CallFigures {
 public:
  /// \param topology  lives as long as this
  /// \param model     all_port is as each call has it
  explicit ReplayedTimes(const Topology& topology, const MachineModel& model = {},
                         int virtual_channels = 2)
      : CallFigures(topology), model_(model), routing_(topology, virtual_channels) {}
  void require_affordable(std::string_view what, double messages) const override;
  /// Several at a time, unless they are large. Their schedules are kept until the next call, which
  /// may be for the other ports. Except the first one's, a replay that takes longer than the needed
  /// lowest figures found so far is stopped, even if a deadlock would end it.
  void compute(std::span<const Priced> calls, Bytes block_bytes, Ports ports,
               std::size_t needed) override;

 private:
  using Recorded = std::shared_ptr<const Schedule>;
  Answer figure_of(const Collective& collective, Bytes block_bytes, bool all_port) override;
  Answer replayed(const Schedule& schedule, bool all_port, Ticks limit) const;
  MachineModel model_;
  Routing routing_;
  std::map<std::string, Recorded> recorded_;
};

}  // namespace wormcube
