// Closed forms, bounds, losses, and the critical path.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/analysis.hpp"

#include "wormcube/runtime/base/keyed_values.hpp"
#include "wormcube/runtime/replay/own_work.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {

namespace {

bool is_message(const OpRecord& op, Rank from) {
  return op.kind == Op::Kind::send && op.peer != from;
}

void route_of(const Schedule& schedule, const Routing& routing, Rank from, const OpRecord& op,
              std::vector<Channel>& path) {
  path.clear();
  if (op.moves > 0) {
    routing.route(from, schedule.moves(from, op), path);
  } else {
    routing.route(from, op.peer, path);
  }
}

std::size_t steps_of(const Schedule& schedule, Rank rank) {
  return schedule.ranks[static_cast<std::size_t>(rank)].step_ends.size();
}

/// The last finish. Calls delivered(ticks) for each message, by (step, source, index), and
/// complete(node, ticks) for each step of each node.
template <class Delivered, class Complete>
Ticks without_contention(const Schedule& schedule, const Routing& routing,
                         const MachineModel& model, Delivered delivered_at, Complete complete_at) {
  const auto nodes = static_cast<Rank>(schedule.ranks.size());
  const std::size_t steps = schedule.steps();
  Ticks time = 0;
  std::vector<Ticks> complete(schedule.ranks.size(), 0), posted(complete), next(complete);
  std::vector<Channel> path;
  std::vector<std::pair<Link, Ticks>> ports;
  for (std::size_t t = 0; t <= steps; ++t) {
    // The node that took step t - 1 posts step t, or ends.
    Ticks latest = 0, longest = 0;
    for (Rank v = 0; model.lock_step && v < nodes; ++v) {
      if (t > steps_of(schedule, v)) continue;
      latest = std::max(latest, complete[static_cast<std::size_t>(v)]);
      longest = std::max(longest, own_work(schedule, model, v, t).total());
    }
    for (Rank v = 0; v < nodes; ++v) {
      if (t > steps_of(schedule, v)) continue;
      const auto at = static_cast<std::size_t>(v);
      posted[at] = next[at] = model.lock_step
                                  ? latest + longest
                                  : complete[at] + own_work(schedule, model, v, t).total();
      if (t == steps_of(schedule, v)) time = std::max(time, posted[at]);
    }
    if (t == steps) break;
    for (Rank v = 0; v < nodes; ++v) {
      Ticks free = posted[static_cast<std::size_t>(v)];
      const Ticks begin = free;
      ports.clear();
      for (const OpRecord& op : schedule.ops(v, t)) {
        if (!is_message(op, v)) continue;
        route_of(schedule, routing, v, op, path);
        Ticks* port = &free;
        if (model.all_port) {
          const Link link = routing.link(path.front());
          auto found = std::ranges::find(ports, link, &std::pair<Link, Ticks>::first);
          if (found == ports.end()) found = ports.insert(ports.end(), {link, begin});
          port = &found->second;
        }
        const std::int64_t flits = model.flits(op.bytes);
        const Ticks ready = *port + model.startup;
        const Ticks delivered = ready + model.transit(flits, std::ssize(path));
        *port = ready + flits * model.port_flit();
        delivered_at(delivered);
        Ticks& sender = next[static_cast<std::size_t>(v)];
        sender = std::max(sender, *port);
        Ticks& receiver = next[static_cast<std::size_t>(op.peer)];
        receiver = std::max(receiver, delivered);
      }
    }
    for (Rank v = 0; v < nodes; ++v) {
      if (t >= steps_of(schedule, v)) continue;
      const auto at = static_cast<std::size_t>(v);
      complete[at] = next[at];
      complete_at(at, next[at]);
    }
  }
  return time;
}

}  // namespace

Uncontended uncontended(const Schedule& schedule, const Routing& routing,
                        const MachineModel& model) {
  Uncontended result;
  result.steps.resize(schedule.ranks.size());
  result.time = without_contention(
      schedule, routing, model, [&](Ticks ticks) { result.delivered.push_back(ticks); },
      [&](std::size_t node, Ticks ticks) { result.steps[node].push_back(ticks); });
  return result;
}

Ticks uncontended_time(const Schedule& schedule, const Routing& routing,
                       const MachineModel& model) {
  return without_contention(
      schedule, routing, model, [](Ticks) {}, [](std::size_t, Ticks) {});
}

LockStepForm lock_step_form(const Schedule& schedule, const Routing& routing,
                            const MachineModel& model, const ScheduleReport& report) {
  LockStepForm form;
  const auto nodes = static_cast<Rank>(schedule.ranks.size());
  const std::size_t steps = schedule.steps();
  std::vector<Channel> path;
  std::vector<Ticks> work(steps + 1, 0), longest(steps + 1, 0);
  bool shares_bus = model.has_bus() && model.node > model.flit;
  for (Rank v = 0; v < nodes; ++v) {
    for (std::size_t t = 0; has_own_work(schedule, v) && t <= steps_of(schedule, v); ++t) {
      work[t] = std::max(work[t], own_work(schedule, model, v, t).total());
    }
    const RankLog& log = schedule.ranks[static_cast<std::size_t>(v)];
    int sent = 0;
    for (std::size_t i = 0, t = 0; i < log.ops.size(); ++i) {
      for (; log.step_ends[t] <= i; ++t) sent = 0;
      const OpRecord& op = log.ops[i];
      if (!is_message(op, v)) continue;
      route_of(schedule, routing, v, op, path);
      longest[t] = std::max(longest[t], model.alone(model.flits(op.bytes), std::ssize(path)));
      shares_bus = shares_bus || (model.has_bus() && ++sent > 1);
    }
  }
  bool too_soon = false;
  for (std::size_t t = 0; t <= steps; ++t) {
    form.time += work[t] + longest[t];
    const bool has_credits = model.forwarding == Forwarding::wormhole;
    if (has_credits && t < steps && model.startup + work[t] + model.port_flit() < model.credit) {
      too_soon = true;
    }
  }
  if (report.link_load_max > 1) {
    form.not_exact = fmt::format("a link carries {} messages in a step", report.link_load_max);
  } else if (report.port_violations > 0) {
    form.not_exact = "a port serves several messages in a step";
  } else if (shares_bus) {
    form.not_exact = "messages share the bus of a node";
  } else if (model.forwarding == Forwarding::wormhole && !model.full_port_rate()) {
    form.not_exact = "the buffers are too shallow for the full rate";
  } else if (too_soon) {
    form.not_exact = "a credit takes longer than a start-up and a flit";
  }
  return form;
}

namespace {

/// Sums by key, of which the highest is asked for.
class Sums {
 public:
  Sums(std::int64_t keys, std::size_t used) : sums_(keys, used, 0) {}
  void add(std::int64_t key, Ticks ticks) { highest_ = std::max(highest_, sums_[key] += ticks); }
  Ticks highest() const { return highest_; }

 private:
  KeyedValues<Ticks> sums_;
  Ticks highest_ = 0;
};

}  // namespace

ScheduleBounds schedule_bounds(const Schedule& schedule, const Routing& routing,
                               const MachineModel& model) {
  const std::int64_t count = routing.topology().links();
  const std::int64_t ports = model.all_port ? count : std::ssize(schedule.ranks);
  const std::size_t used = schedule.messages();
  Sums links(count, used), injecting(ports, used), ejecting(ports, used);
  std::vector<Channel> path;
  bool has_messages = false;
  for (Rank v = 0; v < static_cast<Rank>(schedule.ranks.size()); ++v) {
    for (const OpRecord& op : schedule.ranks[static_cast<std::size_t>(v)].ops) {
      if (!is_message(op, v)) continue;
      route_of(schedule, routing, v, op, path);
      const std::int64_t flits = model.flits(op.bytes);
      const Ticks port = flits * model.port_flit();
      for (const Channel channel : path) links.add(routing.link(channel), flits * model.flit);
      injecting.add(model.all_port ? routing.link(path.front()) : v, model.startup + port);
      ejecting.add(model.all_port ? routing.link(path.back()) : op.peer, port);
      has_messages = true;
    }
  }
  ScheduleBounds bounds;
  if (!has_messages) return bounds;
  bounds.links = links.highest() + model.startup + model.hop;
  bounds.ports = std::max(injecting.highest(), ejecting.highest() + model.startup) + model.hop;
  return bounds;
}

Losses losses(const Schedule& schedule, const MachineModel& model, const Replay& replay) {
  Losses result;
  for (const ReplayedMessage& message : replay.messages) {
    result.contention += message.waited - message.waited_port + message.shared;
    result.ports += message.waited_port;
    if (message.ready != no_tick) result.ports += message.ready - model.startup - message.posted;
    if (model.lock_step || replay.steps.empty() || message.posted == no_tick) continue;
    const auto& there = replay.steps[static_cast<std::size_t>(message.to)];
    if (message.step > there.size()) continue;  // the receiver never got this far
    const Ticks posted = (message.step == 0 ? 0 : there[message.step - 1]) +
                         own_work(schedule, model, message.to, message.step).total();
    result.late_partners += std::max<Ticks>(0, message.posted - posted);
  }
  return result;
}

std::string_view to_string(PathPiece::Kind kind) {
  switch (kind) {
    case PathPiece::Kind::compute:
      return "compute";
    case PathPiece::Kind::rearrange:
      return "rearrange";
    case PathPiece::Kind::combine:
      return "combine";
    case PathPiece::Kind::startup:
      return "start-up";
    case PathPiece::Kind::transfer:
      return "transfer";
    case PathPiece::Kind::contention:
      return "contention";
  }
  return {};
}

namespace {

/// Goes back in time, from the event that ended last to the one that it waited for.
class BackInTime {
 public:
  BackInTime(const Schedule& schedule, const MachineModel& model, const Replay& replay)
      : schedule_(schedule), model_(model), replay_(replay) {
    step_begin_.assign(schedule.steps() + 1, 0);
    for (const ReplayedMessage& message : replay.messages) ++step_begin_[message.step + 1];
    for (std::size_t t = 1; t < step_begin_.size(); ++t) step_begin_[t] += step_begin_[t - 1];
  }

  std::vector<PathPiece> walk() {
    const auto last = std::ranges::max_element(replay_.finish);
    if (last == replay_.finish.end()) return {};
    auto node = static_cast<Rank>(last - replay_.finish.begin());
    std::size_t step = steps_of(schedule_, node);
    Ticks time = *last;
    while (true) {
      // The node posts `step` at `time`, or ends then: its work, then the event that completed its
      // wait.
      step_begins(node, step, time);
      if (step == 0) break;
      --step;
      time = completed(node, step);
      leave_step(node, step, time);
    }
    std::ranges::reverse(pieces_);
    return std::move(pieces_);
  }

 private:
  Ticks completed(Rank node, std::size_t step) const {
    return replay_.steps[static_cast<std::size_t>(node)][step];
  }
  void add(PathPiece::Kind kind, Ticks from, Ticks to, Rank node, std::size_t step, Rank peer,
           Bytes bytes) {
    if (to > from) pieces_.push_back({kind, from, to, node, step, peer, bytes});
  }

  /// Goes back over the work before a step; in lock step to the last node to arrive, over the
  /// longest work.
  void step_begins(Rank& node, std::size_t step, Ticks& time) {
    Rank worker = node;
    if (model_.lock_step) {
      Ticks most = -1, latest = -1;
      for (Rank v = 0; v < static_cast<Rank>(schedule_.ranks.size()); ++v) {
        if (steps_of(schedule_, v) < step) continue;
        const Ticks work = own_work(schedule_, model_, v, step).total();
        if (work > most) most = work, worker = v;
        if (step > 0 && completed(v, step - 1) > latest) {
          latest = completed(v, step - 1);
          node = v;
        }
      }
    }
    const OwnWork work = own_work(schedule_, model_, worker, step);
    const RankLog& log = schedule_.ranks[static_cast<std::size_t>(worker)];
    add(PathPiece::Kind::combine, time - work.combine, time, worker, step, -1, log.combined[step]);
    time -= work.combine;
    add(PathPiece::Kind::rearrange, time - work.rearrange, time, worker, step, -1,
        log.rearranged[step]);
    time -= work.rearrange;
    add(PathPiece::Kind::compute, time - work.compute, time, worker, step, -1, 0);
    time -= work.compute;
  }

  /// From the end of a node's step to the node that posted it: itself, or the sender.
  void leave_step(Rank& node, std::size_t step, Ticks& time) {
    const auto begin = replay_.messages.begin() + static_cast<std::ptrdiff_t>(step_begin_[step]);
    const auto end = replay_.messages.begin() + static_cast<std::ptrdiff_t>(step_begin_[step + 1]);
    auto reason = std::find_if(begin, end, [&](const ReplayedMessage& m) {
      return (m.to == node && m.delivered == time) || (m.from == node && m.sent == time);
    });
    if (reason == end) return;  // posted then, without a wait
    while (true) {
      const ReplayedMessage& m = *reason;
      const bool arrives = m.to == node && m.delivered == time;
      const std::int64_t flits = model_.flits(m.bytes);
      const Ticks alone = arrives ? model_.transit(flits, m.hops) : flits * model_.port_flit();
      const Ticks lost = time - m.ready - alone;
      add(PathPiece::Kind::transfer, time - alone, time, m.from, step, m.to, m.bytes);
      add(PathPiece::Kind::contention, time - alone - lost, time - alone, m.from, step, m.to,
          m.bytes);
      const Ticks began = m.ready - model_.startup;
      add(PathPiece::Kind::startup, began, m.ready, m.from, step, m.to, m.bytes);
      node = m.from;
      time = began;
      if (began == m.posted) return;
      // It queued behind the message that had left its port just then.
      const auto before = std::find_if(begin, end, [&](const ReplayedMessage& other) {
        return other.from == node && other.sent == began && other.index < m.index;
      });
      if (before == end) return;
      reason = before;
    }
  }

  const Schedule& schedule_;
  const MachineModel& model_;
  const Replay& replay_;
  std::vector<std::size_t> step_begin_;
  std::vector<PathPiece> pieces_;
};

}  // namespace

std::vector<PathPiece> critical_path(const Schedule& schedule, const MachineModel& model,
                                     const Replay& replay) {
  if (!replay.time) return {};
  return BackInTime(schedule, model, replay).walk();
}

}  // namespace wormcube
