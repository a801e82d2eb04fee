// Times of a replay, packed.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/times.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

struct LifeTimes {
  std::tuple<std::uint32_t, Rank, std::uint32_t> place;  // step, sender, index
  Ticks ready, delivered;
  std::vector<Ticks> requested, granted, released;
};

class LifeObserver final : public ReplayObserver {
 public:
  void delivered(const WormLife& worm) override {
    const ReplayedMessage& m = worm.message;
    lives_.push_back({{m.step, m.from, m.index},
                      m.ready,
                      m.delivered,
                      {worm.requested.begin(), worm.requested.end()},
                      {worm.granted.begin(), worm.granted.end()},
                      {worm.released.begin(), worm.released.end()}});
  }
  std::vector<LifeTimes> take() {
    std::ranges::sort(lives_, {}, &LifeTimes::place);
    return std::move(lives_);
  }

 private:
  std::vector<LifeTimes> lives_;
};

}  // namespace

PlayTimes pack_times(const Schedule& schedule, const Routing& routing, const MachineModel& model) {
  if (model.stores()) {
    throw UsageError(
        "draw --clock replay shows worms and packets; leave out --store-and-forward, or see "
        "`wormcube replay`");
  }
  LifeObserver observer;
  const Replay done = replay(schedule, routing, model, {.steps = false, .observer = &observer});
  if (!done.time) {
    throw UsageError(fmt::format(
        "draw --clock replay: a deadlock on the modelled machine: {}; see `wormcube replay`",
        done.deadlock.substr(0, done.deadlock.find('\n'))));
  }
  PlayTimes result;
  result.time = *done.time, result.blocked = done.blocked;
  Packer packer;
  Ticks last = 0;
  for (const LifeTimes& life : observer.take()) {
    packer.put_signed(life.ready - last);
    last = life.ready;
    Ticks at = life.ready;
    for (std::size_t i = 0; i < life.granted.size(); ++i) {
      packer.put_signed(life.requested[i] - at);
      packer.put_signed(life.granted[i] - life.requested[i]);
      at = life.granted[i];
    }
    packer.put_signed(life.delivered - at);
    for (std::size_t i = 0; i < life.released.size(); ++i) {
      packer.put_signed(life.released[i] - (i == 0 ? life.granted[0] : life.released[i - 1]));
    }
  }
  result.packed = packer.packed();
  return result;
}

}  // namespace wormcube::apps
