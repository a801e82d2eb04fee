// Nodes, steps, and the phases of a tick.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/simulation.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/replay/own_work.hpp"
#include "wormcube/runtime/schedule/check.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace wormcube {

Simulation::Simulation(const Schedule& schedule, const Routing& routing, const MachineModel& model,
                       const ReplayOptions& options)
    : schedule_(schedule),
      routing_(routing),
      model_(model),
      options_(options),
      slow_ports_(model.forwarding == Forwarding::wormhole && model.port_flit() > model.flit),
      port_flit_(model.port_flit()),
      channel_resource_(model.forwarding == Forwarding::wormhole ? routing.channels()
                                                                 : routing.topology().links(),
                        schedule.messages(), none),
      link_port_(model.all_port ? routing.topology().links() : 0, schedule.messages(), none) {
  const auto nodes = schedule.ranks.size();
  nodes_.resize(nodes);
  finish_.assign(nodes, no_tick);
  if (options.steps) {
    steps_.resize(nodes);
    for (std::size_t v = 0; v < nodes; ++v) steps_[v].reserve(schedule.ranks[v].step_ends.size());
  }
  if (!model.all_port) node_port_.assign(nodes, none);
  if (model.has_bus()) node_bus_.assign(nodes, none);
  number_messages();
  require_countable();
  // Most of these are needed, and what is not costs no memory.
  const std::size_t messages = messages_.size();
  resources_.reserve(nodes + std::min(static_cast<std::size_t>(routing.channels()), messages));
  worms_.reserve(std::min(nodes, messages));
}

Ticks Simulation::gap(Rank rank, std::size_t step) const {
  if (!nodes_[static_cast<std::size_t>(rank)].works) return 0;
  return own_work(schedule_, model_, rank, step).total();
}

Replay Simulation::run() {
  const auto nodes = static_cast<Rank>(nodes_.size());
  if (model_.lock_step) {
    advance_all();
  } else {
    for (Rank rank = 0; rank < nodes; ++rank) complete(rank);
  }
  loop();
  return result();
}

void Simulation::loop() {
  is_running_ = true;
  while (!queue_.empty()) {
    now_ = queue_.next();
    if (now_ > options_.limit && finished_ < nodes_.size()) return;  // some node finishes later
    while (!queue_.empty() && queue_.next() == now_) {
      ++events_;
      phase_one(queue_.pop());
      while (!posting_.empty()) {
        const Rank rank = posting_.back();
        posting_.pop_back();
        post(rank);
      }
    }
    for (const Index worm : requesting_) request(worm);
    requesting_.clear();
    if (model_.has_bus()) grant_buses();
    grant_touched();
    settle_marked();
  }
}

void Simulation::phase_one(const EventQueue::Event& event) {
  constexpr std::uint32_t kind_bits = 4;
  const auto kind = static_cast<Kind>(event.kind_and_stage & ((1U << kind_bits) - 1U));
  const auto stage = static_cast<std::int32_t>(event.kind_and_stage >> kind_bits) - 1;
  const Index index = event.subject;
  if (kind == Kind::post) {
    post(index);
    return;
  }
  // Others may have been overtaken by events since they were scheduled.
  Worm& worm = worm_at(index);
  switch (kind) {
    case Kind::ready:
      message_of(worm).ready = now_;
      if (in_packets()) {
        first_packet(index);
      } else {
        requesting_.push_back(index);
      }
      break;
    case Kind::request:
      if (worm.asks_at != now_) break;
      worm.asks_at = no_tick;
      requesting_.push_back(index);
      if (in_packets() && worm.granted_to < 0) next_packet(index);
      break;
    case Kind::sent:
      if (!worm.is_sent && worm.sends_at == now_) worm_sent(index);
      break;
    case Kind::release:
      if (in_packets() ||
          (worm.released == stage &&
           worm.tails > stage + (model_.forwarding == Forwarding::wormhole ? 1 : 0) &&
           release_time(worm, stage) == now_)) {
        if (options_.observer != nullptr) worm.release_times.push_back(now_);
        release(index, stage);
        ++worm.released;
        finish_worm(index);
      }
      break;
    case Kind::delivered:
      if (worm.message == none || worm.is_delivered || worm.delivers_at != now_) break;
      if (in_packets()) {
        packet_drained(index);
      } else {
        worm_delivered(index);
      }
      break;
    case Kind::stage:
      if (worm.in_runs && worm.flows[slot(stage)].queued == now_) {
        const std::size_t at = slot(stage);
        const Ticks wanted = worm.flows[at].event;
        worm.flows[at].queued = no_tick;
        if (wanted == now_) {
          worm.flows[at].event = no_tick;
          mark(index, stage);
        } else if (wanted != no_tick) {  // it was postponed since
          worm.flows[at].queued = wanted;
          push(wanted, Kind::stage, index, stage);
        }
      }
      break;
    case Kind::post:
      break;
  }
}

/// The node's step begins: its receives are open, its sends queue at their ports.
void Simulation::post(Rank rank) {
  NodeState& node = nodes_[static_cast<std::size_t>(rank)];
  node.posted = true;
  std::int32_t sends = 0, receives = 0;
  for (const OpRecord& op : schedule_.ops(rank, node.step)) {
    if (is_other(op, rank)) ++(op.kind == Op::Kind::send ? sends : receives);
  }
  const auto early =
      std::ranges::find(node.early, node.step, &std::pair<std::uint32_t, std::int32_t>::first);
  if (early != node.early.end()) {
    receives -= early->second;
    *early = node.early.back();
    node.early.pop_back();
  }
  node.outstanding = sends + receives;
  const Index end = node.first_send + sends;
  for (Index m = node.first_send; m < end; ++m) {
    messages_[static_cast<std::size_t>(place_[static_cast<std::size_t>(m)])].posted = now_;
  }
  node.next_send = node.first_send;
  node.first_send = end;
  if (node.outstanding == 0) {
    complete(rank);
  } else if (!model_.all_port) {
    if (sends > 0) start_up(make_worm(node.next_send++));
  } else {
    last_of_port_.clear();
    for (Index m = node.next_send; m < end; ++m) {
      const Index worm = make_worm(m);
      const std::size_t first = model_.has_bus() ? 1 : 0;
      const Link link = routing_.link(resource_at(worm_at(worm).stages[first].resource).channel);
      const auto port = std::ranges::find(last_of_port_, link, &std::pair<Link, Index>::first);
      if (port == last_of_port_.end()) {
        last_of_port_.emplace_back(link, worm);
        start_up(worm);
      } else {
        worm_at(port->second).after = worm;
        port->second = worm;
      }
    }
    node.next_send = end;
  }
}

/// The node's step is complete, or (before it was ever posted) the node starts.
void Simulation::complete(Rank rank) {
  NodeState& node = nodes_[static_cast<std::size_t>(rank)];
  const std::size_t steps = schedule_.ranks[static_cast<std::size_t>(rank)].step_ends.size();
  if (node.posted) {
    if (options_.steps) steps_[static_cast<std::size_t>(rank)].push_back(now_);
    node.posted = false;
    ++node.step;
    if (model_.lock_step) {
      if (--incomplete_ == 0) advance_all();
      return;
    }
  }
  if (is_running_ && !node.works) {  // steps without messages are complete at once
    const std::vector<std::uint32_t>& ends =
        schedule_.ranks[static_cast<std::size_t>(rank)].step_ends;
    const std::uint32_t first = node.step, done = first == 0 ? 0 : ends[first - 1];
    while (node.step < steps && ends[node.step] == done) ++node.step;
    if (options_.steps) {
      std::vector<Ticks>& complete = steps_[static_cast<std::size_t>(rank)];
      complete.insert(complete.end(), node.step - first, now_);
    }
  }
  const Ticks next = now_ + gap(rank, node.step);
  if (node.step < steps) {
    if (next == now_ && is_running_) {
      posting_.push_back(rank);
    } else {
      push(next, Kind::post, rank);
    }
  } else {
    finish_[static_cast<std::size_t>(rank)] = next;
    ++finished_;
  }
}

/// Lock step: all nodes that took the step continue together.
void Simulation::advance_all() {
  Ticks longest = 0;
  incomplete_ = 0;
  const auto nodes = static_cast<Rank>(nodes_.size());
  const auto goes_on = [&](Rank rank) {
    return finish_[static_cast<std::size_t>(rank)] == no_tick;
  };
  for (Rank rank = 0; rank < nodes; ++rank) {
    if (!goes_on(rank)) continue;
    longest = std::max(longest, gap(rank, nodes_[static_cast<std::size_t>(rank)].step));
  }
  const Ticks next = now_ + longest;
  for (Rank rank = 0; rank < nodes; ++rank) {
    if (!goes_on(rank)) continue;
    const auto at = static_cast<std::size_t>(rank);
    if (nodes_[at].step < schedule_.ranks[at].step_ends.size()) {
      ++incomplete_;
      push(next, Kind::post, rank);
    } else {
      finish_[at] = next;
      ++finished_;
    }
  }
}

void Simulation::one_less(Rank rank) {
  if (--nodes_[static_cast<std::size_t>(rank)].outstanding == 0) complete(rank);
}

void Simulation::arrived(Rank rank, std::uint32_t step) {
  NodeState& node = nodes_[static_cast<std::size_t>(rank)];
  if (node.posted && node.step == step) {
    one_less(rank);
    return;
  }
  const auto early =
      std::ranges::find(node.early, step, &std::pair<std::uint32_t, std::int32_t>::first);
  if (early == node.early.end()) {
    node.early.emplace_back(step, 1);
  } else {
    ++early->second;
  }
}

void Simulation::start_up(Index worm) { push(now_ + model_.startup, Kind::ready, worm); }

void Simulation::worm_sent(Index index) {
  Worm& worm = worm_at(index);
  worm.is_sent = true;
  ReplayedMessage& message = message_of(worm);
  message.sent = now_;
  const Rank from = message.from;
  NodeState& node = nodes_[static_cast<std::size_t>(from)];
  if (model_.all_port) {
    if (worm.after != none) start_up(worm.after);
  } else if (node.next_send < node.first_send) {
    start_up(make_worm(node.next_send++));
  }
  finish_worm(index);
  one_less(from);
}

void Simulation::worm_delivered(Index index) {
  Worm& worm = worm_at(index);
  worm.is_delivered = true;
  release(index, worm.last);
  ReplayedMessage& message = message_of(worm);
  message.delivered = now_;
  message.shared = now_ - message.ready - message.waited - model_.transit(worm.flits, message.hops);
  const Rank to = message.to;
  const std::uint32_t step = message.step;
  finish_worm(index);
  arrived(to, step);
}

/// When everything is released.
void Simulation::finish_worm(Index index) {
  Worm& worm = worm_at(index);
  if (!worm.is_sent || !worm.is_delivered || worm.released < worm.last) return;
  if (options_.observer != nullptr && in_packets()) {
    observe_packet(worm);
  } else if (options_.observer != nullptr) {
    std::vector<std::vector<Run>> starts;
    for (std::int32_t stage = 0; stage <= worm.last; ++stage) {
      const auto at = static_cast<std::size_t>(stage);
      if (model_.forwarding != Forwarding::wormhole) {
        starts.push_back({{0, worm.stages[at].granted, model_.flit}});
      } else {
        starts.push_back(worm.in_runs ? worm.flows[slot(stage)].starts.runs()
                                      : formula_runs(worm, stage));
      }
    }
    std::vector<Channel> route;
    std::vector<Ticks> requested, granted;
    for (const Stage& stage : worm.stages) {
      route.push_back(resource_at(stage.resource).channel);
      requested.push_back(stage.requested);
      granted.push_back(stage.granted);
    }
    route.pop_back();  // the ejection port
    options_.observer->delivered(
        {message_of(worm), route, requested, granted, worm.release_times, starts, worm.flits});
  }
  worm.message = none;
  worm.tails = 0;
  worm.in_runs = false;
  worm.asks_at = no_tick;
  free_worms_.push_back(index);
}

void require_matched(const ScheduleReport& report) {
  if (!report.matched()) throw UsageError("the schedule cannot be replayed: " + report.problems[0]);
}

Replay replay(const Schedule& schedule, const Routing& routing, const MachineModel& model,
              const ReplayOptions& options) {
  model.require_valid();
  if (!options.checked) require_matched(check(schedule, routing, model.all_port));
  return Simulation(schedule, routing, model, options).run();
}

}  // namespace wormcube
