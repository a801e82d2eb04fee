// What a node does by itself between two steps, in modelled time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/machine_model.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

namespace wormcube {

/// In this order: it computes, then rearranges, then combines.
struct OwnWork {
  Ticks compute = 0, rearrange = 0, combine = 0;
  Ticks total() const { return compute + rearrange + combine; }
};

/// The computation that it declares before this step.
Ticks computing(const Schedule& schedule, const MachineModel& model, Rank rank, std::size_t step);

/// \param step  the step after it; the number of steps: the work after the last
inline OwnWork own_work(const Schedule& schedule, const MachineModel& model, Rank rank,
                        std::size_t step) {
  const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
  const auto time = [](const Rate& rate, Bytes bytes) { return bytes == 0 ? 0 : rate.of(bytes); };
  return {schedule.computed.empty() ? 0 : computing(schedule, model, rank, step),
          time(model.rearrange, log.rearranged[step]), time(model.combine, log.combined[step])};
}

/// Whether it does anything between any two steps, with some model.
inline bool has_own_work(const Schedule& schedule, Rank rank) {
  const auto at = static_cast<std::size_t>(rank);
  const RankLog& log = schedule.ranks[at];
  return !log.rearranged.filled().empty() || !log.combined.filled().empty() ||
         (!schedule.computed.empty() && !schedule.computed[at].empty());
}

}  // namespace wormcube
