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

Ticks computing(const Schedule& schedule, const MachineModel& model, Rank rank, std::size_t step) {
  const std::vector<Computed>& all = schedule.computed[static_cast<std::size_t>(rank)];
  const auto computed = std::ranges::lower_bound(all, step, {}, &Computed::step);
  if (computed == all.end() || computed->step != step) return 0;
  return std::max(time_of(model.operations, computed->operations),
                  time_of(model.memory, computed->bytes));
}

}  // namespace wormcube
