// Forecasts of a stage's starts: from the stages beside it, and when they stop being valid.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/constraint.hpp"
#include "wormcube/runtime/replay/simulation.hpp"

#include <algorithm>

namespace wormcube {

/// The earliest start that rules 1 to 4 allow, on a link without turns.
Ticks Simulation::earliest(const Worm& worm, std::int32_t stage, std::int64_t flit) const {
  const std::size_t at = slot(stage);
  Ticks time = flit > 0    ? later(worm.flows[at].starts.at(flit - 1), rate(worm, stage))
               : stage < 0 ? message_of(worm).ready - rate(worm, stage)
                           : worm.at(stage).granted;
  if (stage > front()) {
    time = std::max(time, later(worm.flows[at - 1].starts.at(flit), hop(stage - 1)));
  }
  if (stage < worm.last && flit >= buffer(stage)) {
    time = std::max(time,
                    stage == worm.granted_to
                        ? no_tick
                        : later(worm.flows[at + 1].starts.at(flit - buffer(stage)), credit(stage)));
  }
  return time;
}

void Simulation::forecast(Index index, std::int32_t stage, std::int64_t flit, Ticks time,
                          Ticks stride) {
  Worm& worm = worm_at(index);
  Starts& starts = worm.flows[slot(stage)].starts;
  if (time == no_tick) {
    if (starts.at(flit) == no_tick) return;
    starts.stall(flit);
  } else if (!starts.replace(flit, time, stride)) {
    return;
  }
  constexpr std::size_t many = 16;
  if (options_.observer == nullptr && starts.runs().size() > many) {
    starts.forget(flit - std::max(model_.slots, model_.port_buffer()) - 2);
  }
  mark(index, stage - 1);
  mark(index, stage + 1);
}

/// Schedules the next start of interest: the header's, the tail's, the first one that deviates from
/// the forecast.
void Simulation::watch(Index index, std::int32_t stage, std::int64_t flit, Ticks time,
                       Ticks deviation) {
  Worm& worm = worm_at(index);
  Ticks event = deviation;
  if (flit == 0 && stage >= 0) {
    if (time > now_) {
      event = std::min(event, time);
    } else if (stage < worm.last && stage == worm.granted_to && worm.asks_at == no_tick) {
      ask_later(index, now_ + model_.hop);
    }
  }
  if (worm.tails <= stage) {
    const Ticks tail = worm.flows[slot(stage)].starts.at(worm.flits - 1);
    if (tail > now_) {
      event = std::min(event, tail);
    } else if (worm.tails == stage && limit(worm, stage) == worm.flits) {
      worm.at(stage).tail = tail;
      worm.tails = stage + 1;
      if (stage == 0) {
        worm.sends_at = tail + model_.flit;
        if (slow_ports_) {  // it has passed the port, and the port is free after it
          const Ticks began = worm.flows[slot(-1)].starts.at(worm.flits - 1);
          worm.sends_at = std::max(worm.sends_at, began + 2 * model_.port_flit());
        }
        push(worm.sends_at, Kind::sent, index);
      }
      if (stage > 0) push(release_time(worm, stage - 1), Kind::release, index, stage - 1);
      if (stage == worm.last) {
        push(worm.delivers_at = tail + model_.port_flit(), Kind::delivered, index);
      }
    }
  }
  worm.flows[slot(stage)].event = event;
  if (event < worm.flows[slot(stage)].queued) {
    worm.flows[slot(stage)].queued = event;
    push(event, Kind::stage, index, stage);
  }
}

/// When a stage's starts will first differ from the run time, time + stride, .. of flit, flit + 1,
/// .., should its neighbours start as forecast.
Ticks Simulation::deviation(const Worm& worm, std::int32_t stage, std::int64_t flit, Ticks time,
                            Ticks stride) const {
  const std::size_t at = slot(stage);
  const bool bound_by_rate = stride == rate(worm, stage);
  for (std::int64_t k = flit + 1; k < worm.flits;) {
    const Ticks line = time + (k - flit) * stride;
    Constraint arrival, room;
    if (stage > front()) arrival = constraint(worm.flows[at - 1].starts.piece(k), hop(stage - 1));
    if (stage < worm.granted_to) {
      if (k < buffer(stage)) {
        room.length = buffer(stage) - k;
      } else {
        room = constraint(worm.flows[at + 1].starts.piece(k - buffer(stage)), credit(stage));
      }
    }
    const std::int64_t off = bound_by_rate ? std::min(first_above(arrival, line, stride),
                                                      first_above(room, line, stride))
                                           : first_off(arrival, room, line, stride);
    const std::int64_t length = std::min({arrival.length, room.length, worm.flits - k});
    if (off < length) {
      const std::int64_t j = k + off;
      const Ticks forecast = time + (j - flit) * stride;
      Ticks real = forecast - stride + rate(worm, stage);
      if (stage > front())
        real = std::max(real, later(worm.flows[at - 1].starts.at(j), hop(stage - 1)));
      if (stage < worm.granted_to && j >= buffer(stage)) {
        real =
            std::max(real, later(worm.flows[at + 1].starts.at(j - buffer(stage)), credit(stage)));
      }
      return std::min(real, forecast);
    }
    k += length;
  }
  return no_tick;
}

}  // namespace wormcube
