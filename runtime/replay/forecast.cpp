// Forecasts of a stage's starts: from the stages beside it, and when they stop being valid.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/constraint.hpp"
#include "wormcube/runtime/replay/simulation.hpp"

#include <algorithm>

namespace wormcube {

Simulation::Beside Simulation::beside(const Worm& worm, std::int32_t stage) const {
  const std::size_t at = slot(stage);
  return {.before = stage > front() ? &worm.flows[at - 1].starts : nullptr,
          .behind = stage < worm.granted_to ? &worm.flows[at + 1].starts : nullptr,
          .hop = hop(stage - 1),
          .credit = credit(stage),
          .buffer = buffer(stage)};
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
  Flow& flow = worm.flows[slot(stage)];
  Ticks event = deviation;
  if (flit == 0 && stage >= 0) {
    if (time > now_) {
      event = std::min(event, time);
    } else if (stage < worm.last && stage == worm.granted_to && worm.asks_at == no_tick) {
      ask_later(index, now_ + model_.hop);
    }
  }
  if (worm.tails <= stage) {
    const Ticks tail = flow.starts.at(worm.flits - 1);
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
  flow.event = event;
  if (event < flow.queued) {
    flow.queued = event;
    push(event, Kind::stage, index, stage);
  }
}

/// When a stage's starts will first differ from the run time, time + stride, .. of flit, flit + 1,
/// .., should its neighbours start as forecast.
Ticks Simulation::deviation(const Beside& beside, std::int64_t flits, Ticks least,
                            std::int64_t flit, Ticks time, Ticks stride) {
  const auto& [before, behind, hop, credit, buffer] = beside;
  for (std::int64_t k = flit + 1; k < flits;) {
    const Ticks line = time + (k - flit) * stride;
    Constraint arrival, room;
    if (before != nullptr) arrival = constraint(before->piece(k), hop);
    if (behind != nullptr && k < buffer) {
      room.length = buffer - k;
    } else if (behind != nullptr) {
      room = constraint(behind->piece(k - buffer), credit);
    }
    const std::int64_t off = stride == least ? std::min(first_above(arrival, line, stride),
                                                        first_above(room, line, stride))
                                             : first_off(arrival, room, line, stride);
    const std::int64_t length = std::min({arrival.length, room.length, flits - k});
    if (off < length) {
      const Ticks forecast = line + off * stride;
      return std::min(std::max(forecast - stride + least, beside.ready(k + off)), forecast);
    }
    k += length;
  }
  return no_tick;
}

}  // namespace wormcube
