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
/// \param step  before which; the number of steps: after the last
OwnWork own_work(const Schedule& schedule, const MachineModel& model, Rank rank, std::size_t step);

}  // namespace wormcube
