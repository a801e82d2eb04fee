// Worms as whole messages: requests, grants and releases, with the flits' times in closed form.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/simulation.hpp"

#include <algorithm>
#include <utility>

namespace wormcube {

Simulation::Index Simulation::resource_of(Channel channel) {
  const bool by_link = model_.forwarding != Forwarding::wormhole;
  const Channel key = by_link ? routing_.link(channel) : channel;
  Index& known = channel_resource_[key];
  if (known != none) return known;
  const Index index = known = static_cast<Index>(resources_.size());
  resources_.push_back({.channel = channel});
  if (by_link) return index;
  const int vc = routing_.virtual_channel(channel);
  const Channel other = vc == 1 ? channel - 1 : channel + 1;
  if (vc == 0 && (other >= routing_.channels() || routing_.link(other) != routing_.link(channel))) {
    return index;
  }
  const Index partner = std::as_const(channel_resource_)[other];
  resource_at(index).is_second = vc == 1;
  if (partner != none) {
    resource_at(index).partner = partner;
    resource_at(partner).partner = index;
  }
  return index;
}

/// The ejection port at the end of route_.
Simulation::Index Simulation::port_of(Rank rank) {
  Index& slot = model_.all_port ? link_port_[routing_.link(route_.back())]
                                : node_port_[static_cast<std::size_t>(rank)];
  if (slot == none) {
    slot = static_cast<Index>(resources_.size());
    resources_.push_back({.channel = ejection});
  }
  return slot;
}

Simulation::Index Simulation::blank_worm(Index message) {
  Index index;
  if (free_worms_.empty()) {
    index = static_cast<Index>(worms_.size());
    worms_.emplace_back();
  } else {
    index = free_worms_.back();
    free_worms_.pop_back();
  }
  Worm& worm = worm_at(index);
  worm.message = message;
  worm.place = place_[static_cast<std::size_t>(message)];
  worm.next_waiting = worm.after = none;
  worm.granted_to = -1;
  worm.tails = worm.released = 0;
  worm.is_delivered = worm.is_sent = worm.in_runs = false;
  worm.is_last = true;
  worm.asks_at = worm.sends_at = worm.delivers_at = no_tick;
  worm.waited = worm.waited_port = 0;
  worm.stages.clear();
  worm.shared_stages.clear();
  worm.release_times.clear();
  return index;
}

Simulation::Index Simulation::make_worm(Index message) {
  const Index index = blank_worm(message);
  Worm& worm = worm_at(index);
  ReplayedMessage& m = message_of(worm);
  // A node's messages become worms in their order.
  const std::vector<OpRecord>& ops = schedule_.ranks[static_cast<std::size_t>(m.from)].ops;
  std::uint32_t& next_op = nodes_[static_cast<std::size_t>(m.from)].next_op;
  while (ops[next_op].kind != Op::Kind::send || !is_other(ops[next_op], m.from)) ++next_op;
  const OpRecord& op = ops[next_op++];
  route_.clear();
  if (op.moves > 0) {
    routing_.route(m.from, schedule_.moves(m.from, op), route_);
  } else {
    routing_.route(m.from, m.to, route_);
  }
  m.hops = static_cast<std::int32_t>(route_.size());
  worm.flits = model_.flits(m.bytes);
  if (model_.has_bus()) {
    Index& bus_of_node = node_bus_[static_cast<std::size_t>(m.from)];
    if (bus_of_node == none) {
      bus_of_node = static_cast<Index>(resources_.size());
      resources_.push_back({.channel = bus});
    }
    worm.stages.push_back({.resource = bus_of_node});
  }
  for (const Channel channel : route_) worm.stages.push_back({.resource = resource_of(channel)});
  worm.stages.push_back({.resource = port_of(m.to)});
  worm.last = static_cast<std::int32_t>(worm.stages.size()) - 1;
  return index;
}

void Simulation::ask_later(Index index, Ticks time) {
  worm_at(index).asks_at = time;
  push(time, Kind::request, index);
}

bool Simulation::earlier(Index a, Index b) const {
  const Worm& x = worms_[static_cast<std::size_t>(a)];
  const Worm& y = worms_[static_cast<std::size_t>(b)];
  const Ticks asked_x = x.at(x.granted_to + 1).requested;
  const Ticks asked_y = y.at(y.granted_to + 1).requested;
  return asked_x != asked_y ? asked_x < asked_y : x.message < y.message;
}

void Simulation::touch(Index index) {
  Resource& resource = resource_at(index);
  if (resource.touched) return;
  resource.touched = true;
  touched_.push_back(index);
}

/// The worm requests the stage after the last one that it holds.
void Simulation::request(Index index) {
  Worm& worm = worm_at(index);
  const std::size_t stage = static_cast<std::size_t>(worm.granted_to) + 1;
  worm.asks_at = no_tick;
  worm.stages[stage].requested = now_;
  const Index wanted = worm.stages[stage].resource;
  Resource& resource = resource_at(wanted);
  // Requests come in the order of their ticks, so only those of this tick need a search: the list
  // is sorted in ascending order.
  if (resource.first_waiting == none) {
    resource.first_waiting = resource.last_waiting = index;
    worm.next_waiting = none;
  } else if (earlier(resource.last_waiting, index)) {
    worm_at(resource.last_waiting).next_waiting = index;
    resource.last_waiting = index;
    worm.next_waiting = none;
  } else {
    Index* link = &resource.first_waiting;
    while (earlier(*link, index)) link = &worm_at(*link).next_waiting;
    worm.next_waiting = *link;
    *link = index;
  }
  touch(wanted);
}

void Simulation::grant_touched() {
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    Resource& resource = resource_at(touched_[i]);
    resource.touched = false;
    if (in_packets() && resource.channel == ejection) {
      drain(touched_[i]);
    } else if (resource.holder == none && resource.first_waiting != none) {
      grant(touched_[i]);
    }
  }
  touched_.clear();
}

void Simulation::grant(Index wanted) {
  Resource& resource = resource_at(wanted);
  const Index index = resource.first_waiting;
  Worm& worm = worm_at(index);
  resource.first_waiting = worm.next_waiting;
  if (resource.first_waiting == none) resource.last_waiting = none;
  const std::int32_t stage = ++worm.granted_to;
  const auto at = static_cast<std::size_t>(stage);
  resource.holder = index;
  resource.stage = stage;
  resource.messages += worm.first_flit == 0 ? 1 : 0;
  resource.flits += worm.flits;
  worm.stages[at].granted = now_;
  const Ticks waited = now_ - worm.stages[at].requested;
  resource.waited += waited;
  if (in_packets()) {
    worm.waited += waited;
    packet_granted(index, stage);
    return;
  }
  if (waited > 0) message_of(worm).waited += waited;
  if (stage == worm.last) {
    message_of(worm).waited_port += waited;
    message_of(worm).at_port = now_;
  }
  if (worm.in_runs) {
    granted_in_runs(index, stage);
  } else {
    granted(index, stage);
  }
  const Index partner = resource.partner;
  if (partner != none && resource_at(partner).holder != none) share(wanted);
}

/// What follows from a grant as long as the worm's flits start by formula.
void Simulation::granted(Index index, std::int32_t stage) {
  Worm& worm = worm_at(index);
  const auto at = static_cast<std::size_t>(stage);
  if (model_.forwarding != Forwarding::wormhole) {
    const Ticks body = worm.flits * model_.flit;
    worm.stages[at].tail = now_ + body - model_.flit;
    worm.tails = stage + 1;
    if (stage == 0) push(worm.sends_at = now_ + body, Kind::sent, index);
    if (stage == worm.last) {
      push(worm.delivers_at = now_ + body, Kind::delivered, index);
      return;
    }
    push(now_ + body, Kind::release, index, stage);
    Ticks next = now_ + model_.hop;
    if (stage + 1 < worm.last) {
      next += body + (model_.forwarding == Forwarding::store_each ? model_.startup : 0);
    }
    ask_later(index, next);
    return;
  }
  if (!model_.full_rate()) {  // no formula
    to_runs(index);
    return;
  }
  if (stage < worm.last) ask_later(index, now_ + model_.hop);
  schedule_tails(index);
}

/// The tail's start on stage i is final once stage min(hops, i + (flits-1) / slots) is granted: no
/// later stage can delay it then, for its slot is free.
void Simulation::schedule_tails(Index index) {
  Worm& worm = worm_at(index);
  const std::int64_t reach = (worm.flits - 1) / model_.slots;
  const std::int32_t last =
      worm.granted_to == worm.last
          ? worm.last
          : static_cast<std::int32_t>(std::max<std::int64_t>(worm.granted_to - reach, -1));
  for (; worm.tails <= last; ++worm.tails) {
    const std::int32_t stage = worm.tails;
    const auto at = static_cast<std::size_t>(stage);
    worm.stages[at].tail = formula_tail(worm, stage);
    if (stage == 0) {
      worm.sends_at = worm.stages[0].tail + model_.flit;
      if (slow_ports_) {
        worm.sends_at =
            std::max(worm.sends_at, formula_at_link(worm, worm.flits - 1) + model_.port_flit());
      }
      push(worm.sends_at, Kind::sent, index);
    }
    if (stage > 0) push(release_time(worm, stage - 1), Kind::release, index, stage - 1);
    if (stage == worm.last) {
      push(worm.delivers_at = worm.stages[at].tail + model_.port_flit(), Kind::delivered, index);
    }
  }
}

Ticks Simulation::formula_tail(const Worm& worm, std::int32_t stage) const {
  const std::int64_t k = worm.flits - 1, reach = k / model_.slots;
  if (slow_ports_) {
    const std::vector<Run> runs = formula_runs(worm, stage);
    return runs.back().time + (k - runs.back().first) * runs.back().stride;
  }
  Ticks latest = 0;
  const auto last = static_cast<std::int32_t>(
      std::min<std::int64_t>(worm.granted_to, std::int64_t{stage} + reach));
  const Ticks gained = model_.credit - model_.slots * model_.flit;  // one stage on: not above 0
  Ticks offset = k * model_.flit;
  for (std::int32_t j = stage; j <= last; ++j, offset += gained) {
    latest = std::max(latest, worm.at(j).granted + offset);
  }
  return latest;
}

/// Of channel `stage`, once the tail's starts on it and on the next stage are known.
Ticks Simulation::release_time(const Worm& worm, std::int32_t stage) const {
  const auto at = static_cast<std::size_t>(stage);
  if (model_.forwarding != Forwarding::wormhole) return worm.stages[at].tail + model_.flit;
  return std::max(worm.stages[at + 1].tail + model_.credit, worm.stages[at].tail + model_.flit);
}

/// The starts of all flits on a stage, from the grants up to now: what the formula
///   s(i,k) = max over j >= i with k >= S(j-i) of  g_j + (k - S(j-i)) F + (j-i) C
/// gives; a run for each group of S flits in which a later stage begins to count.
std::vector<Run> Simulation::formula_runs(const Worm& worm, std::int32_t stage) const {
  if (slow_ports_) return slow_formula_runs(worm, stage);
  std::vector<Run> runs;
  const Ticks gained = model_.credit - model_.slots * model_.flit;
  Ticks latest = no_tick, offset = 0;
  for (std::int32_t j = stage; j <= worm.granted_to; ++j, offset += gained) {
    const std::int64_t k = model_.slots * (j - stage);
    if (k >= worm.flits) break;
    const Ticks base = worm.at(j).granted + offset;
    if (!runs.empty() && base <= latest) continue;
    latest = base;
    runs.push_back({k, base + k * model_.flit, model_.flit});
  }
  return runs;
}

void Simulation::release(Index index, std::int32_t stage) {
  Worm& worm = worm_at(index);
  const Index freed = worm.at(stage).resource;
  Resource& resource = resource_at(freed);
  if (options_.waits) {
    for (Index other = resource.first_waiting; other != none; other = worm_at(other).next_waiting) {
      const Worm& waiting = worm_at(other);
      if (!waiting.is_last) continue;  // a message waits as its last packet does
      const Ticks from =
          std::max(waiting.at(waiting.granted_to + 1).requested, worm.at(stage).granted);
      if (from == now_) continue;
      waits_.push_back({static_cast<std::size_t>(waiting.place),
                        static_cast<std::size_t>(worm.place), resource.channel, from, now_ - from});
    }
  }
  resource.holder = none;
  resource.last_start = worm.at(stage).tail;
  touch(freed);
}

}  // namespace wormcube
