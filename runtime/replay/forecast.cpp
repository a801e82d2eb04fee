// Forecasts of a stage's starts: from the stages beside it, and when they will not hold any more.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/constraint.hpp"
#include "wormcube/runtime/replay/simulation.hpp"

#include <algorithm>

namespace wormcube {

/// The earliest start that rules 1 to 4 allow, on a link without turns.
Ticks Simulation::earliest(const Worm& worm, std::int32_t stage, std::int64_t flit) const {
  const auto at = static_cast<std::size_t>(stage);
  Ticks time = flit > 0 ? later(worm.starts[at].at(flit - 1), model_.flit) : worm.granted[at];
  if (stage > 0) time = std::max(time, later(worm.starts[at - 1].at(flit), model_.hop));
  if (stage < worm.hops && flit >= model_.slots) {
    time = std::max(time, stage == worm.granted_to
                              ? no_tick
                              : later(worm.starts[at + 1].at(flit - model_.slots), model_.credit));
  }
  return time;
}

void Simulation::forecast(Index index, std::int32_t stage, std::int64_t flit, Ticks time,
                          Ticks stride) {
  Worm& worm = worm_at(index);
  Starts& starts = worm.starts[static_cast<std::size_t>(stage)];
  if (time == no_tick) {
    if (starts.at(flit) == no_tick) return;
    starts.stall(flit);
  } else if (!starts.replace(flit, time, stride)) {
    return;
  }
  constexpr std::size_t many = 16;
  if (options_.observer == nullptr && starts.runs().size() > many) {
    starts.forget(flit - model_.slots - 2);
  }
  mark(index, stage - 1);
  mark(index, stage + 1);
}

/// Sees to the next start of interest: the header's, the tail's, the one that will not be as
/// forecast.
void Simulation::watch(Index index, std::int32_t stage, std::int64_t flit, Ticks time,
                       Ticks deviation) {
  Worm& worm = worm_at(index);
  const auto at = static_cast<std::size_t>(stage);
  Ticks event = deviation;
  if (flit == 0) {
    if (time > now_) {
      event = std::min(event, time);
    } else if (stage < worm.hops && stage == worm.granted_to && worm.asks_at == no_tick) {
      ask_later(index, now_ + model_.hop);
    }
  }
  if (worm.tails <= stage) {
    const Ticks tail = worm.starts[at].at(worm.flits - 1);
    if (tail > now_) {
      event = std::min(event, tail);
    } else if (worm.tails == stage && limit(worm, stage) == worm.flits) {
      worm.tail[at] = tail;
      worm.tails = stage + 1;
      if (stage == 0) push(tail + model_.flit, Kind::sent, index);
      if (stage > 0) push(release_time(worm, stage - 1), Kind::release, index, stage - 1);
      if (stage == worm.hops) push(tail + model_.flit, Kind::delivered, index);
    }
  }
  worm.stage_event[at] = event;
  if (event < worm.stage_queued[at]) {
    worm.stage_queued[at] = event;
    push(event, Kind::stage, index, stage);
  }
}

/// When a stage's starts will first differ from the run time, time + stride, .. of flit, flit + 1,
/// .., should its neighbours start as forecast.
Ticks Simulation::deviation(const Worm& worm, std::int32_t stage, std::int64_t flit, Ticks time,
                            Ticks stride) const {
  const auto at = static_cast<std::size_t>(stage);
  const bool bound_by_rate = stride == model_.flit;
  for (std::int64_t k = flit + 1; k < worm.flits;) {
    const Ticks line = time + (k - flit) * stride;
    Constraint arrival, slot;
    if (stage > 0) arrival = constraint(worm.starts[at - 1].piece(k), model_.hop);
    if (stage < worm.granted_to) {
      if (k < model_.slots) {
        slot.length = model_.slots - k;
      } else {
        slot = constraint(worm.starts[at + 1].piece(k - model_.slots), model_.credit);
      }
    }
    const std::int64_t off = bound_by_rate ? std::min(first_above(arrival, line, stride),
                                                      first_above(slot, line, stride))
                                           : first_off(arrival, slot, line, stride);
    const std::int64_t length = std::min({arrival.length, slot.length, worm.flits - k});
    if (off < length) {
      const std::int64_t j = k + off;
      const Ticks forecast = time + (j - flit) * stride;
      Ticks real = forecast - stride + model_.flit;
      if (stage > 0) real = std::max(real, later(worm.starts[at - 1].at(j), model_.hop));
      if (stage < worm.granted_to && j >= model_.slots) {
        real = std::max(real, later(worm.starts[at + 1].at(j - model_.slots), model_.credit));
      }
      return std::min(real, forecast);
    }
    k += length;
  }
  return no_tick;
}

}  // namespace wormcube
