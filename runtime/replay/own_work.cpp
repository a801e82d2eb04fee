// What a node does by itself between two steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/own_work.hpp"

#include <algorithm>
#include <cmath>

namespace wormcube {

namespace {

/// Operations are counts, which doubles hold exactly up to 2^53.
Ticks time_of(const Rate& rate, double count) {
  constexpr double most = 9e18;
  return rate.ticks == 0 ? 0 : rate.of(static_cast<Bytes>(std::llround(std::min(count, most))));
}

}  // namespace

OwnWork own_work(const Schedule& schedule, const MachineModel& model, Rank rank, std::size_t step) {
  const auto at = static_cast<std::size_t>(rank);
  const RankLog& log = schedule.ranks[at];
  OwnWork work{0, model.rearrange.of(log.rearranged[step]), model.combine.of(log.combined[step])};
  if (schedule.computed.empty()) return work;
  const std::vector<Computed>& all = schedule.computed[at];
  const auto computed = std::ranges::lower_bound(all, step, {}, &Computed::step);
  if (computed == all.end() || computed->step != step) return work;
  work.compute = std::max(time_of(model.operations, computed->operations),
                          time_of(model.memory, computed->bytes));
  return work;
}

}  // namespace wormcube
