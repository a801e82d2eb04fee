// Worms whose flits take turns on links: starts as runs, forecast stage by stage.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/replay/constraint.hpp"
#include "wormcube/runtime/replay/simulation.hpp"

#include <algorithm>
#include <array>

namespace wormcube {

/// The flits that can start on a stage before one more stage is granted: a buffer full for it and
/// each later channel.
std::int64_t Simulation::limit(const Worm& worm, std::int32_t stage) const {
  if (worm.granted_to == worm.last) return worm.flits;
  // Behind the injection port it has another size.
  const std::int64_t behind_port = stage < 0 ? model_.port_buffer() : 0;
  const std::int64_t buffers = worm.granted_to - std::max(stage, 0) + 1;
  return worm.flits / model_.slots < buffers
             ? worm.flits
             : std::min(worm.flits, behind_port + buffers * model_.slots);
}

bool Simulation::tail_is_past(const Worm& worm, std::int32_t stage) const {
  return stage >= 0 && worm.tails > stage && worm.at(stage).tail + rate(worm, stage) <= now_;
}

void Simulation::mark(Index index, std::int32_t stage) {
  Worm& worm = worm_at(index);
  if (stage < front() || stage > worm.granted_to || worm.flows[slot(stage)].marked) return;
  worm.flows[slot(stage)].marked = true;
  marked_.emplace_back(index, stage);
}

/// A channel was granted whose link has another channel that is held.
void Simulation::share(Index granted) {
  const Resource& mine = resource_at(granted);
  const Resource& theirs = resource_at(mine.partner);
  if (tail_is_past(worm_at(theirs.holder), theirs.stage)) return;
  for (const Resource* resource : {&mine, &theirs}) {
    to_runs(resource->holder);
    worm_at(resource->holder).shared_stages.push_back(resource->stage);
    mark(resource->holder, resource->stage);
  }
}

/// Keeps the worm's starts as runs from now on. What is before this tick is final.
void Simulation::to_runs(Index index) {
  Worm& worm = worm_at(index);
  if (worm.in_runs) return;
  worm.in_runs = true;
  const std::size_t stages = slot(worm.last) + 1;
  if (worm.flows.size() < stages) worm.flows.resize(stages);
  for (Flow& flow : worm.flows) {
    flow.starts.clear();
    flow.event = flow.queued = no_tick;
    flow.marked = false;
  }
  std::int32_t past_tails = 0;
  while (past_tails < worm.tails && worm.at(past_tails).tail < now_) {
    ++past_tails;
  }
  worm.tails = past_tails;
  if (past_tails == 0) worm.sends_at = no_tick;
  if (past_tails <= worm.last) worm.delivers_at = no_tick;
  for (std::int32_t stage = front(); stage <= worm.granted_to; ++stage) {
    if (stage < 0 || worm.at(stage).granted < now_) {
      for (const Run& run : stage < 0 ? injection_runs(worm) : formula_runs(worm, stage)) {
        worm.flows[slot(stage)].starts.push(run);
        if (run.time >= now_) break;  // a forecast, as later ones are
      }
    } else {
      worm.asks_at = no_tick;  // its header may have to wait for its turn
    }
    mark(index, stage);
  }
}

void Simulation::granted_in_runs(Index index, std::int32_t stage) {
  Worm& worm = worm_at(index);
  for (std::int32_t before = stage - 1; before >= front(); --before) {
    const std::int64_t old_limit =
        before < 0 ? model_.port_buffer() + stage * model_.slots : (stage - before) * model_.slots;
    Starts& starts = worm.flows[slot(before)].starts;
    if (old_limit >= worm.flits || starts.before(now_, old_limit) < old_limit) break;
    // It waits for a slot. The forecast beyond that has failed.
    if (starts.at(old_limit) < now_) starts.stall(old_limit);
    mark(index, before);
  }
  mark(index, stage - 1);
  mark(index, stage);
  for (const std::int32_t shared : worm.shared_stages) mark(index, shared);
}

void Simulation::settle_marked() {
  for (std::size_t i = 0; i < marked_.size(); ++i) {
    const auto [index, stage] = marked_[i];
    Worm& worm = worm_at(index);
    if (!worm.in_runs || stage > worm.granted_to) continue;  // delivered in this tick
    worm.flows[slot(stage)].marked = false;
    settle(index, stage);
  }
  marked_.clear();
}

void Simulation::settle(Index index, std::int32_t stage) {
  Worm& worm = worm_at(index);
  if (tail_is_past(worm, stage)) {
    worm.flows[slot(stage)].event = no_tick;
    return;
  }
  if (stage < 0) {
    settle_alone(index, stage, long_ago, no_tick);
    return;
  }
  const Index partner = resource_at(worm.at(stage).resource).partner;
  Ticks link_free = 0;  // after the other channel's last flit
  if (partner != none) {
    const Resource& other = resource_at(partner);
    Ticks last = other.last_start;
    if (other.holder != none) {
      const Worm& holder = worm_at(other.holder);
      if (tail_is_past(holder, other.stage)) {
        last = holder.at(other.stage).tail;
      } else if (holder.in_runs) {
        settle_pair(index, stage, other.holder, other.stage);
        return;
      }
    }
    if (last != long_ago) link_free = last + model_.flit;
  }
  settle_alone(index, stage, link_free, no_tick);
}

/// \param link_free  not before
/// \param horizon    recheck then at the latest
void Simulation::settle_alone(Index index, std::int32_t stage, Ticks link_free, Ticks horizon) {
  Worm& worm = worm_at(index);
  Flow& flow = worm.flows[slot(stage)];
  const std::int64_t most = limit(worm, stage);
  const std::int64_t flit = flow.starts.before(now_, most);
  if (flit >= most) {
    flow.event = no_tick;
    return;
  }
  const Ticks least = rate(worm, stage);
  // The earliest start that rules 1 to 4 allow, on a link without turns.
  const Beside near = beside(worm, stage);
  const Ticks alone = flit > 0    ? later(flow.starts.at(flit - 1), least)
                      : stage < 0 ? message_of(worm).ready - least
                                  : worm.at(stage).granted;
  const Ticks time = std::max({alone, near.ready(flit), link_free});
  WORMCUBE_ASSERT(time >= now_);
  if (time == no_tick) {
    forecast(index, stage, flit, no_tick, 1);
    flow.event = no_tick;
    return;
  }
  Ticks second = time + least;
  if (flit + 1 < most) second = std::max(second, near.ready(flit + 1));
  const Ticks stride = second == no_tick ? least : second - time;
  forecast(index, stage, flit, time, stride);
  watch(index, stage, flit, time,
        std::min(horizon, deviation(near, worm.flits, least, flit, time, stride)));
}

Ticks Simulation::latest_start(const Worm& worm, std::int32_t stage, std::int64_t before) const {
  return before > 0 ? worm.flows[slot(stage)].starts.at(before - 1)
                    : resources_[static_cast<std::size_t>(worm.at(stage).resource)].last_start;
}

/// The two channels of a link, both held: their flits take turns.
void Simulation::settle_pair(Index index, std::int32_t stage, Index other,
                             std::int32_t other_stage) {
  struct Side {
    Index index;
    std::int32_t stage;
    std::int64_t flit = 0, most = 0;  // the next to start; how many can
    Ticks latest = 0, granted = 0;
    Beside beside{};
  };
  std::array<Side, 2> sides{{{index, stage}, {other, other_stage}}};
  if (resource_at(worm_at(index).at(stage).resource).is_second) std::swap(sides[0], sides[1]);
  for (Side& side : sides) {
    Worm& worm = worm_at(side.index);
    const std::size_t at = slot(side.stage);
    side.most = limit(worm, side.stage);
    side.flit = worm.flows[at].starts.before(now_, side.most);
    side.latest = latest_start(worm, side.stage, side.flit);
    side.granted = worm.at(side.stage).granted;
    side.beside = beside(worm, side.stage);
  }
  // Rules 1, 2 and 4.
  const auto ready = [&](const Side& side, std::int64_t flit) {
    if (flit >= side.most) return no_tick;
    return std::max(flit == 0 ? side.granted : 0, side.beside.ready(flit));
  };
  const Ticks latest = std::max(sides[0].latest, sides[1].latest);
  const Ticks link_free = latest == long_ago ? 0 : latest + model_.flit;
  // The pointer points behind the channel that was served last.
  const std::size_t preferred = latest == long_ago ? 0 : sides[0].latest > sides[1].latest ? 1 : 0;
  const std::array<Ticks, 2> next{ready(sides[0], sides[0].flit), ready(sides[1], sides[1].flit)};

  const auto still = [&](const Side& side) {
    if (side.flit < side.most) forecast(side.index, side.stage, side.flit, no_tick, 1);
    worm_at(side.index).flows[slot(side.stage)].event = no_tick;
  };
  for (const std::size_t s : {std::size_t{0}, std::size_t{1}}) {
    const Side& side = sides[s];
    const Side& there = sides[1 - s];
    if (next[s] == no_tick) continue;
    const Ticks begin = std::max(next[s], link_free);
    if (next[1 - s] != no_tick && next[1 - s] < begin + 2 * model_.flit) continue;
    // One of them alone until the other is ready.
    settle_alone(side.index, side.stage, link_free, next[1 - s]);
    if (next[1 - s] == no_tick) {
      still(there);
    } else {
      forecast(there.index, there.stage, there.flit, next[1 - s], model_.flit);
      watch(there.index, there.stage, there.flit, next[1 - s], next[1 - s]);
    }
    return;
  }
  if (next[0] == no_tick && next[1] == no_tick) {
    still(sides[0]);
    still(sides[1]);
    return;
  }

  // The next few turns.
  struct Turn {
    std::size_t side;
    Ticks time;
  };
  constexpr std::size_t looked_at = 8;
  std::array<Turn, looked_at> turns{};
  std::size_t count = 0;
  std::array<std::int64_t, 2> flit{sides[0].flit, sides[1].flit};
  std::array<Ticks, 2> ready_at = next;
  Ticks free = link_free;
  std::size_t first_choice = preferred;
  while (count < looked_at) {
    const Ticks a = std::max(ready_at[0], free);
    const Ticks b = std::max(ready_at[1], free);
    if (a == no_tick && b == no_tick) break;
    const std::size_t chosen = a < b ? 0 : b < a ? 1 : first_choice;
    const Ticks time = std::min(a, b);
    turns[count++] = {chosen, time};
    ready_at[chosen] = ready(sides[chosen], ++flit[chosen]);
    free = time + model_.flit;
    first_choice = 1 - chosen;
  }
  WORMCUBE_ASSERT(turns[0].time >= now_);
  std::array<std::array<Ticks, 2>, 2> starts{{{no_tick, no_tick}, {no_tick, no_tick}}};
  for (std::size_t i = 0; i < count; ++i) {
    auto& mine = starts[turns[i].side];
    if (mine[0] == no_tick) {
      mine[0] = turns[i].time;
    } else if (mine[1] == no_tick) {
      mine[1] = turns[i].time;
    }
  }
  std::array<Ticks, 2> stride{model_.flit, model_.flit};
  for (const std::size_t s : {std::size_t{0}, std::size_t{1}}) {
    if (starts[s][1] != no_tick) stride[s] = starts[s][1] - starts[s][0];
  }

  // When this pattern ends.
  Ticks off = no_tick;
  std::array<std::int64_t, 2> seen{0, 0};
  bool alternates = count == looked_at && stride[0] == stride[1];
  for (std::size_t i = 0; i < count && off == no_tick; ++i) {
    const auto [s, time] = turns[i];
    const Ticks forecast = starts[s][0] + seen[s]++ * stride[s];
    if (forecast != time) off = std::min(forecast, time);
    if (i > 0 && turns[i - 1].side == s) alternates = false;
  }
  for (const std::size_t s : {std::size_t{0}, std::size_t{1}}) {
    // What is forecast but not among the turns examined.
    if (sides[s].flit + seen[s] < sides[s].most && starts[s][0] != no_tick &&
        (count < looked_at || !alternates)) {
      off = std::min(off, starts[s][0] + seen[s] * stride[s]);
    }
  }
  if (off == no_tick && count == looked_at) {
    if (!alternates) {
      off = turns[looked_at - 1].time;
    } else {
      // x, y, x, y, ..: each has a period of `period`; x starts `to_y` before y, y `to_x` before x.
      const Side& x = sides[turns[0].side];
      const Side& y = sides[turns[1].side];
      const Ticks period = stride[0], to_y = turns[1].time - turns[0].time;
      const Ticks to_x = period - to_y;
      const auto x_at = [&](std::int64_t j) { return turns[0].time + j * period; };
      const auto y_at = [&](std::int64_t j) { return turns[1].time + j * period; };
      enum class Law { not_above, on, not_below };
      // The first j >= 1 for which flit side.flit + shift + j deviates from the line of its
      // readiness; or one before that.
      const auto broken = [&](const Side& side, std::int64_t shift, Ticks line_1, Law law) {
        std::int64_t j = 1;
        while (side.flit + shift + j < side.most) {
          const std::int64_t k = side.flit + shift + j;
          const Ticks line = line_1 + (j - 1) * period;
          Constraint arrival, room;
          const auto& [before, behind, hop, credit, buffer] = side.beside;
          if (before != nullptr) arrival = constraint(before->piece(k), hop);
          if (k < buffer) {
            room.length = buffer - k;
          } else {
            room = constraint(behind->piece(k - buffer), credit);
          }
          const std::int64_t bad =
              law == Law::not_above
                  ? std::min(first_above(arrival, line, period), first_above(room, line, period))
              : law == Law::on
                  ? first_off(arrival, room, line, period)
                  : std::max(first_below(arrival, line, period), first_below(room, line, period));
          const std::int64_t length = std::min({arrival.length, room.length, side.most - k});
          if (bad < length) return j + bad;
          j += length;
        }
        return no_end;
      };
      const auto note = [&](std::int64_t j, Ticks time) {
        if (j != no_end) off = std::min(off, time);
      };
      off = std::min(x_at(x.most - x.flit), y_at(y.most - y.flit));
      const bool y_pushes_x = to_x == model_.flit, x_pushes_y = to_y == model_.flit;
      std::int64_t j = broken(x, 0, x_at(1), y_pushes_x ? Law::not_above : Law::on);
      note(j, j == no_end ? no_tick : y_pushes_x ? x_at(j) : y_at(j - 1) + model_.flit);
      if (!y_pushes_x) {
        j = broken(y, 0, x_at(1), Law::not_below);
        note(j, j == no_end ? no_tick : y_at(j - 1) + model_.flit);
      }
      j = broken(y, 0, y_at(1), x_pushes_y ? Law::not_above : Law::on);
      note(j, j == no_end ? no_tick : x_pushes_y ? y_at(j) : x_at(j) + model_.flit);
      if (!x_pushes_y) {
        j = broken(x, 1, y_at(1), Law::not_below);
        note(j, j == no_end ? no_tick : x_at(j) + model_.flit);
      }
    }
  }
  for (const std::size_t s : {std::size_t{0}, std::size_t{1}}) {
    if (starts[s][0] == no_tick) {
      still(sides[s]);
      continue;
    }
    forecast(sides[s].index, sides[s].stage, sides[s].flit, starts[s][0], stride[s]);
  }
  for (const std::size_t s : {std::size_t{0}, std::size_t{1}}) {
    if (starts[s][0] == no_tick) continue;
    watch(sides[s].index, sides[s].stage, sides[s].flit, starts[s][0], off);
  }
}

}  // namespace wormcube
