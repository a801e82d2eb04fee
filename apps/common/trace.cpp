// Chrome trace event JSON, event by event.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/trace.hpp"

#include "wormcube/apps/common/trace_text.hpp"
#include "wormcube/runtime/replay/own_work.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

constexpr Ticks per_ns = 1000;

}  // namespace

/// As it is in the temporary file.
struct ReplayTrace::Event {
  enum class Kind : std::uint8_t { slice, flow_start, flow_end };
  enum class Of : std::uint8_t {
    send,
    receive,
    compute,
    rearrange,
    combine,
    step,
    phase,
    wait,
    link,
    all_steps  // of lock step
  };
  Ticks time = 0, length = 0;
  std::uint64_t order = 0;    // in which it was recorded; holds come last
  std::uint64_t subject = 0;  // a message, a channel, bytes or a step
  std::int64_t row = 0;       // of a node's
  Rank rank = 0, peer = 0;    // the node; for a hold, source and destination
  std::uint32_t step = 0;     // of a hold
  Kind kind = Kind::slice;
  Of of = Of::send;

  /// In the order of the file: by time, the longer slice first.
  friend bool operator<(const Event& a, const Event& b) {
    return std::tuple(a.time / per_ns, -a.length, a.kind, a.order) <
           std::tuple(b.time / per_ns, -b.length, b.kind, b.order);
  }
};

namespace {

/// Truncated, not rounded: a slice inside another stays there.
std::string model_time(Ticks ticks) { return trace_time(ticks / per_ns); }

/// The threads of a node: local work, then one for sending and one for receiving at each port, then
/// its steps.
class TraceRows {
 public:
  TraceRows(const Routing& routing, const MachineModel& model)
      : routing_(routing), all_port_(model.all_port) {
    const Topology& topology = routing.topology();
    if (all_port_) {
      for (Rank rank = 0; rank < topology.nodes(); ++rank) {
        ports_ = std::max(ports_, topology.ports(rank));
      }
    }
    width_ = std::max<std::int64_t>(8, 2 * ports_ + 2);
    digits_ = static_cast<int>(fmt::format("{}", topology.nodes() - 1).size());
  }
  static std::int64_t pid(Rank rank) { return std::int64_t{rank} + 2; }  // 1 is `links`
  std::int64_t links_pid() const { return 1; }
  std::int64_t steps_pid() const { return pid(routing_.topology().nodes()); }
  std::int64_t local(Rank rank) const { return (std::int64_t{rank} + 1) * width_; }
  std::int64_t send(Rank rank, Link first) const { return local(rank) + 1 + port(rank, first); }
  std::int64_t receive(Rank rank, Link last) const {
    return local(rank) + 1 + ports_ + (all_port_ ? incoming(rank, last) : 0);
  }
  std::int64_t steps(Rank rank) const { return local(rank) + width_ - 1; }
  std::string node_name(Rank rank) const { return fmt::format("node {:0{}}", rank, digits_); }
  /// Processes come in the order of their numbers: `links`, the nodes, `steps`.
  std::int64_t first_link_row() const { return local(routing_.topology().nodes()) + width_; }

 private:
  int port(Rank rank, Link link) const {
    if (!all_port_) return 0;
    int port = 0;
    while (port + 1 < ports_ && routing_.topology().link(rank, port) != link) ++port;
    return port;
  }
  /// Cables join the same ports in both directions: the port that the link comes from.
  int incoming(Rank rank, Link link) const {
    const Topology& topology = routing_.topology();
    const auto place = topology.place(link);
    const Graph& graph = topology.factor(place.dimension);
    const auto ends = graph.ends(place.link);
    for (int p = 0; p < topology.ports(rank); ++p) {
      const auto out = topology.place(topology.link(rank, p));
      const auto out_ends = graph.ends(out.link);
      if (out.dimension == place.dimension && out.line == place.line && out_ends.to == ends.from &&
          out_ends.from == ends.to) {
        return p;
      }
    }
    return 0;
  }
  const Routing& routing_;
  bool all_port_;
  int ports_ = 1, digits_ = 1;
  std::int64_t width_ = 8;
};

}  // namespace

namespace {

/// When nodes begin, post, and only wait for their steps.
class StepTimes {
 public:
  StepTimes(const Schedule& schedule, const MachineModel& model, const Replay& replay)
      : schedule_(schedule), model_(model), replay_(replay), sent_(replay.steps.size()) {
    if (model.lock_step) {
      barriers_.assign(schedule.steps() + 1, 0);
      work_.assign(schedule.steps() + 1, 0);
    }
    for (std::size_t at = 0; at < sent_.size(); ++at) {
      const auto& complete = replay.steps[at];
      sent_[at].assign(complete.size(), 0);
      if (!model.lock_step) continue;
      for (std::size_t t = 0; t <= complete.size(); ++t) {
        if (t > 0) barriers_[t] = std::max(barriers_[t], complete[t - 1]);
        work_[t] = std::max(work_[t], own_work(schedule, model, static_cast<Rank>(at), t).total());
      }
    }
    for (const ReplayedMessage& m : replay.messages) {
      if (m.from == m.to) continue;
      Ticks& sent = sent_[static_cast<std::size_t>(m.from)][m.step];
      sent = std::max(sent, m.sent);
    }
  }
  /// When its work before a step begins: in lock step, that of all nodes.
  Ticks begin(Rank rank, std::size_t step) const {
    if (step == 0) return 0;
    return model_.lock_step ? barriers_[step]
                            : replay_.steps[static_cast<std::size_t>(rank)][step - 1];
  }
  Ticks posted(Rank rank, std::size_t step) const {
    return begin(rank, step) +
           (model_.lock_step ? work_[step] : own_work(schedule_, model_, rank, step).total());
  }
  Ticks waits_from(Rank rank, std::size_t step) const {
    return std::max(posted(rank, step), sent_[static_cast<std::size_t>(rank)][step]);
  }

 private:
  const Schedule& schedule_;
  const MachineModel& model_;
  const Replay& replay_;
  std::vector<std::vector<Ticks>> sent_;  // by rank and step, the last one
  std::vector<Ticks> barriers_, work_;    // in lock step, before each step
};

}  // namespace

bool TraceCut::has(Rank rank) const {
  return nodes.empty() || std::ranges::binary_search(nodes, rank);
}

ReplayTrace::ReplayTrace(TraceCut cut, std::size_t in_memory)
    : cut_(std::move(cut)), events_(std::make_unique<EventSpool<Event>>(in_memory)) {}

ReplayTrace::~ReplayTrace() = default;

void ReplayTrace::delivered(const WormLife& worm) {
  const ReplayedMessage& m = worm.message;
  if (!cut_.has_step(m.step) || !(cut_.has(m.from) || cut_.has(m.to))) return;
  for (std::size_t i = 0; i < worm.route.size(); ++i) {
    constexpr std::uint64_t last = std::uint64_t{1} << 62U;
    Event hold;
    hold.of = Event::Of::link;
    hold.time = worm.granted[i], hold.length = worm.released[i] - worm.granted[i];
    hold.order = last + holds_++;
    hold.subject = static_cast<std::uint64_t>(worm.route[i]);
    hold.rank = m.from, hold.peer = m.to, hold.step = m.step;
    channels_.insert(worm.route[i]);
    events_->add(hold);
  }
}

namespace {

/// How many channels are held over the file: emitted when nothing earlier can follow.
class BusyChannels {
 public:
  void hold(Ticks from, Ticks to) {
    changes_.emplace(from, 1);
    changes_.emplace(to, -1);
  }
  /// Calls f(time, channels held) for the changes before a nanosecond.
  template <class F>
  void before(Ticks ns, F f) {
    while (!changes_.empty() && changes_.top().first / per_ns < ns) {
      const Ticks time = changes_.top().first;
      for (; !changes_.empty() && changes_.top().first == time; changes_.pop()) {
        busy_ += changes_.top().second;
      }
      f(time, busy_);
    }
  }

 private:
  using Change = std::pair<Ticks, int>;
  std::priority_queue<Change, std::vector<Change>, std::greater<>> changes_;
  std::int64_t busy_ = 0;
};

}  // namespace

TraceCounts ReplayTrace::write(const std::function<void(std::string_view)>& write,
                               const Schedule& schedule, const Routing& routing,
                               const MachineModel& model, const Replay& replay,
                               std::string_view other) {
  using Kind = Event::Kind;
  using Of = Event::Of;
  TraceCounts counts{holds_, 0};
  const TraceRows rows(routing, model);
  std::uint64_t order = 0;
  std::map<std::int64_t, std::string> threads, used_nodes;  // names by tid; by pid
  std::map<std::int64_t, std::int64_t> pid_of;
  const auto add = [&](Kind kind, Ticks time, Ticks length, Rank rank, std::int64_t row, Of of,
                       std::size_t subject) {
    Event event;
    event.time = time, event.length = length, event.order = order++, event.subject = subject;
    event.row = row, event.rank = rank, event.kind = kind, event.of = of;
    events_->add(event);
  };
  const auto slice = [&](Ticks from, Ticks to, Rank rank, std::int64_t tid, Of of,
                         std::size_t subject, const auto& name) {
    add(Kind::slice, from, to - from, rank, tid, of, subject);
    if (threads.try_emplace(tid, std::string()).second) {
      threads[tid] = name();
      pid_of[tid] = of == Of::all_steps ? rows.steps_pid() : TraceRows::pid(rank);
    }
    ++counts.events;
  };
  const auto node_row = [&](Rank rank) {
    used_nodes.try_emplace(TraceRows::pid(rank), rows.node_name(rank));
  };

  std::vector<Channel> path;
  for (std::size_t i = 0; i < replay.messages.size(); ++i) {
    const ReplayedMessage& m = replay.messages[i];
    if (m.delivered == no_tick) continue;
    const bool from_in = cut_.has(m.from) && cut_.has_step(m.step);
    const bool to_in = cut_.has(m.to) && cut_.has_step(m.step);
    counts.left_out += (from_in ? 0 : 1) + (to_in ? 0 : 1);
    if (!from_in && !to_in) continue;
    Link first = -1, last = -1;
    if (model.all_port) {
      // The route as it was sent; the same op may have explicit moves.
      path.clear();
      std::uint32_t index = 0;
      for (const OpRecord& op : schedule.ops(m.from, m.step)) {
        if (op.kind != Op::Kind::send || index++ != m.index) continue;
        if (op.moves > 0) {
          routing.route(m.from, schedule.moves(m.from, op), path);
        } else {
          routing.route(m.from, m.to, path);
        }
      }
      first = routing.link(path.front());
      last = routing.link(path.back());
    }
    const auto port_name = [&](std::string_view what, Link link) {
      return model.all_port ? fmt::format("{} {}", what, routing.topology().link_name(link))
                            : std::string(what);
    };
    const Ticks begin = m.ready - model.startup;
    const std::int64_t send_row = rows.send(m.from, first), receive_row = rows.receive(m.to, last);
    if (from_in) {
      node_row(m.from);
      slice(begin, m.sent, m.from, send_row, Of::send, i, [&] { return port_name("send", first); });
    }
    if (to_in) {
      node_row(m.to);
      slice(m.at_port, m.delivered, m.to, receive_row, Of::receive, i,
            [&] { return port_name("receive", last); });
    }
    if (from_in && to_in) {
      add(Kind::flow_start, begin, 0, m.from, send_row, Of::send, i);
      add(Kind::flow_end, m.at_port, 0, m.to, receive_row, Of::receive, i);
    }
  }

  // Own work: right before each step (in lock step, from the barrier on), and at the end.
  for (Rank rank = 0; rank < static_cast<Rank>(schedule.ranks.size()); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (replay.steps.empty() || !replay.time) break;
    const RankLog& log = schedule.ranks[at];
    for (std::size_t t = 0; t <= log.step_ends.size(); ++t) {
      const auto [computed, moved, combined] = own_work(schedule, model, rank, t);
      if (computed + moved + combined == 0) continue;
      if (!cut_.has(rank) || !cut_.has_step(t)) {
        ++counts.left_out;
        continue;
      }
      Ticks from = 0;
      if (model.lock_step && t > 0) {
        for (const auto& steps : replay.steps) {
          if (t - 1 < steps.size()) from = std::max(from, steps[t - 1]);
        }
      } else if (t > 0) {
        from = replay.steps[at][t - 1];
      }
      const auto name = [] { return std::string("local"); };
      node_row(rank);
      if (computed > 0) {
        slice(from, from + computed, rank, rows.local(rank), Of::compute, 0, name);
        from += computed;
      }
      if (moved > 0) {
        slice(from, from + moved, rank, rows.local(rank), Of::rearrange, log.rearranged[t], name);
      }
      if (combined > 0) {
        slice(from + moved, from + moved + combined, rank, rows.local(rank), Of::combine,
              log.combined[t], name);
      }
    }
  }

  // Phases; in them the steps; in these the waits for messages that are not delivered yet.
  if (replay.time && !replay.steps.empty()) {
    const StepTimes times(schedule, model, replay);
    for (Rank rank = 0; rank < static_cast<Rank>(schedule.ranks.size()); ++rank) {
      const auto& complete = replay.steps[static_cast<std::size_t>(rank)];
      const auto name = [] { return std::string("steps"); };
      const auto row = [&](Ticks from, Ticks to, Of of, std::size_t subject, bool in) {
        if (in) {
          node_row(rank);
          slice(from, to, rank, rows.steps(rank), of, subject, name);
        } else {
          ++counts.left_out;
        }
      };
      for (std::size_t i = 0; i < schedule.phases.size(); ++i) {
        const auto& [text, first, last] = schedule.phases[i];
        if (first >= complete.size()) break;
        row(times.begin(rank, first), complete[std::min(last, complete.size() - 1)], Of::phase, i,
            cut_.has(rank) && cut_.first_step <= last && first <= cut_.last_step);
      }
      for (std::size_t t = 0; t < complete.size(); ++t) {
        const bool in = cut_.has(rank) && cut_.has_step(t);
        const Ticks waits = times.waits_from(rank, t);
        row(times.posted(rank, t), complete[t], Of::step, t, in);
        if (waits < complete[t]) row(waits, complete[t], Of::wait, t, in);
      }
    }
  }

  // A row for each channel that was held.
  std::vector<Channel> channels(channels_.begin(), channels_.end());
  std::ranges::sort(channels);
  const auto link_row = [&](std::uint64_t channel) {
    return rows.first_link_row() +
           (std::ranges::lower_bound(channels, static_cast<Channel>(channel)) - channels.begin());
  };
  for (const Channel channel : channels) {
    const std::int64_t row = link_row(static_cast<std::uint64_t>(channel));
    threads[row] = routing.channel_name(channel);
    pid_of[row] = rows.links_pid();
  }
  if (model.lock_step && !replay.steps.empty()) {
    Ticks begin = 0;
    for (std::size_t t = 0; t < schedule.steps(); ++t) {
      Ticks end = begin;
      for (const auto& steps : replay.steps) {
        if (t < steps.size()) end = std::max(end, steps[t]);
      }
      if (cut_.has_step(t)) {
        slice(begin, end, 0, rows.first_link_row() + std::ssize(channels), Of::all_steps, t,
              [] { return std::string("steps"); });
      }
      begin = end;
    }
  }
  events_->sort();

  write(trace_head("model", other, counts.events, counts.left_out));
  if (!channels.empty()) write(trace_name("process_name", rows.links_pid(), 0, "links") + ",\n");
  for (const auto& [pid, name] : used_nodes)
    write(trace_name("process_name", pid, 0, name) + ",\n");
  if (model.lock_step) write(trace_name("process_name", rows.steps_pid(), 0, "steps") + ",\n");
  for (const auto& [tid, name] : threads) {
    write(trace_name("thread_name", pid_of[tid], tid, name) + ",\n");
  }
  BusyChannels busy;
  Ticks latest = 0;
  const auto count_busy = [&](Ticks before) {
    busy.before(before, [&](Ticks time, std::int64_t channels_held) {
      latest = std::max(latest, time);
      write(fmt::format(
          R"({{"ph":"C","name":"busy channels","pid":{},"ts":{},"args":{{"channels":{}}}}},)"
          "\n",
          rows.links_pid(), model_time(time), channels_held));
    });
  };
  merge<Event>({events_.get()}, [&](const Event& e) {
    count_busy(e.time / per_ns);
    latest = std::max(latest, e.time);
    const bool is_link = e.of == Of::link;
    if (is_link) busy.hold(e.time, e.time + e.length);
    const std::string at = fmt::format(R"("pid":{},"tid":{},"ts":{})",
                                       is_link                 ? rows.links_pid()
                                       : e.of == Of::all_steps ? rows.steps_pid()
                                                               : TraceRows::pid(e.rank),
                                       is_link ? link_row(e.subject) : e.row, model_time(e.time));
    switch (e.kind) {
      case Kind::flow_start:
      case Kind::flow_end:
        write(fmt::format(R"({{"ph":"{}",{}"cat":"message","name":"m","id":{},{}}},)"
                          "\n",
                          e.kind == Kind::flow_start ? "s" : "f",
                          e.kind == Kind::flow_start ? "" : "\"bp\":\"e\",", e.subject + 1, at));
        break;
      case Kind::slice: {
        const std::string length =
            model_time((e.time + e.length) / per_ns * per_ns - e.time / per_ns * per_ns);
        std::string name, arguments;
        const char* category = "local";
        if (e.of == Of::send || e.of == Of::receive) {
          const ReplayedMessage& m = replay.messages[e.subject];
          category = "message";
          name = e.of == Of::send ? fmt::format("to {}", m.to) : fmt::format("from {}", m.from);
          arguments = fmt::format(
              R"("bytes":{},"step":{},"tag":{},"hops":{},"waited_ps":{},"shared_ps":{})", m.bytes,
              m.step, m.tag, m.hops, m.waited, m.shared);
        } else if (is_link) {
          category = "link";
          name = fmt::format("{} to {}", e.rank, e.peer);
          arguments = fmt::format(R"("step":{})", e.step);
        } else if (e.of == Of::step || e.of == Of::all_steps) {
          category = "step";
          name = fmt::format("step {}", e.subject);
        } else if (e.of == Of::wait) {
          category = "wait";
          name = "wait";
          arguments = fmt::format(R"("step":{})", e.subject);
        } else if (e.of == Of::phase) {
          category = "phase";
          name = trace_quoted(schedule.phases[e.subject].name);
        } else {
          name = e.of == Of::compute ? "compute" : e.of == Of::rearrange ? "rearrange" : "combine";
          if (e.of != Of::compute) arguments = fmt::format(R"("bytes":{})", e.subject);
        }
        write(fmt::format(R"({{"ph":"X","cat":"{}","name":"{}",{},"dur":{},"args":{{{}}}}},)"
                          "\n",
                          category, name, at, length, arguments));
        break;
      }
    }
  });
  count_busy(std::numeric_limits<Ticks>::max());
  // A last event, without a trailing comma.
  write(
      fmt::format(R"({{"ph":"C","name":"busy channels","pid":{},"ts":{},"args":{{"channels":0}}}})"
                  "\n]}}\n",
                  rows.links_pid(),
                  model_time(counts.events == 0 ? 0 : std::max(latest, replay.time.value_or(0)))));
  return counts;
}

}  // namespace wormcube
