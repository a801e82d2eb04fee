// The checker: steps in parallel, each on its own; then the dependencies of all their routes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/check.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/dependencies.hpp"
#include "wormcube/runtime/schedule/dry_run_limit.hpp"
#include "wormcube/runtime/schedule/findings.hpp"
#include "wormcube/runtime/schedule/long_loop.hpp"
#include "wormcube/runtime/schedule/parallel.hpp"
#include "wormcube/runtime/schedule/step_links.hpp"
#include "wormcube/runtime/schedule/step_matcher.hpp"
#include "wormcube/runtime/schedule/unmatched.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {
namespace {

/// What one thread finds in its share of the steps.
class Checker : public StepFindings {
 public:
  /// \param per_step  shared by all threads: each writes the entries of its own steps, which
  ///                  already have what is rearranged and combined
  /// \param orderly   set to false by the first route that does not take one dimension after
  ///                  another, the last first: dependency_cycle() does not cover it
  Checker(const Schedule& schedule, const Routing& routing, bool all_port,
          std::span<StepFigures> per_step, std::atomic<bool>& orderly)
      : schedule_(schedule),
        routing_(routing),
        all_port_(all_port),
        per_step_(per_step),
        matcher_(routing.topology().nodes()),
        links_(routing.topology(), schedule.messages()),
        orderly_(orderly) {}

  /// Steps [first, end), each with the gap before it; step steps() is the gap after the last one.
  /// A node's ops of all these steps are contiguous, those of the next node far away: they are
  /// gathered first.
  void check(std::size_t first, std::size_t end) {
    gathered_.resize(std::max(gathered_.size(), end - first));
    for (StepOps& step : gathered_) step.nodes.clear(), step.ops.clear(), step.moves.clear();
    for (Rank rank = 0; rank < routing_.topology().nodes(); ++rank) {
      const RankLog& log = schedule_.ranks[static_cast<std::size_t>(rank)];
      const std::size_t last = std::min(end, log.step_ends.size());
      if (first >= last || log.step_ends[last - 1] == (first == 0 ? 0 : log.step_ends[first - 1])) {
        continue;  // it neither sends nor receives
      }
      for (std::size_t step = first; step < last; ++step) {
        const std::size_t begin = step == 0 ? 0 : log.step_ends[step - 1];
        if (log.step_ends[step] > begin)
          gather(log, rank, begin, log.step_ends[step], step - first);
      }
    }
    for (std::size_t step = first; step < end; ++step) check_one(step, gathered_[step - first]);
  }

  /// The second pass, for other routes: which channel follows which.
  void follow(std::size_t step, Dependencies& dependencies) {
    for (Rank rank = 0; rank < routing_.topology().nodes(); ++rank) {
      for (const OpRecord& op : schedule_.ops(rank, step)) {
        if (!is_message(op)) continue;
        route(rank, op, schedule_.moves(rank, op));
        dependencies.add(path_);
      }
    }
  }

 private:
  struct NodeOps {
    Rank rank;
    std::size_t first, count;  // among StepOps::ops
  };
  struct StepOps {
    std::vector<NodeOps> nodes;
    std::vector<OpRecord> ops;  // their moves are among `moves`
    std::vector<Move> moves;
  };

  /// Ops [begin, end) of a log.
  void gather(const RankLog& log, Rank rank, std::size_t begin, std::size_t end, std::size_t step) {
    StepOps& to = gathered_[step];
    to.nodes.push_back({rank, to.ops.size(), end - begin});
    for (std::size_t i = begin; i < end; ++i) {
      OpRecord& op = to.ops.emplace_back(log.ops[i]);
      const auto moves = std::span(log.moves).subspan(op.first_move, op.moves);
      op.first_move = static_cast<std::uint32_t>(to.moves.size());
      to.moves.insert(to.moves.end(), moves.begin(), moves.end());
    }
  }

  void check_one(std::size_t step, const StepOps& gathered) {
    step_ = step;
    largest_ = most_injected_ = 0;
    longest_ = 0;
    links_.clear();
    const std::size_t messages_before = report_.messages;
    for (const NodeOps& of : gathered.nodes) {
      node(of.rank, std::span(gathered.ops).subspan(of.first, of.count), gathered.moves);
    }
    match();
    const auto [most, busiest_bytes] = links();
    const Bytes cost = std::max(largest_, busiest_bytes);
    StepFigures& figures = per_step_[step];
    figures.largest = largest_, figures.link_load = most, figures.cost = cost;
    report_.contended += cost;
    report_.injected += most_injected_;
    report_.startups += report_.messages > messages_before ? 1 : 0;
    report_.transmission += largest_;
    report_.rearranged += figures.rearranged;
    report_.combined += figures.combined;
    most_ += static_cast<double>(figures.rearranged) + static_cast<double>(figures.combined);
    report_.sum_max_hops += static_cast<std::size_t>(longest_);
    report_.max_hops = std::max(report_.max_hops, longest_);
  }

  void node(Rank rank, std::span<const OpRecord> ops, std::span<const Move> moves) {
    int sends = 0, receives = 0;  // of other nodes: a message to oneself uses no port
    Bytes injected = 0;
    for (const OpRecord& op : ops) {
      if (!has_peer(op)) {
        ++report_.unmatched;
        unmatched_.add(step_, [&] {
          return fmt::format("step {}: node {}: peer {} out of range [0, {})", step_, rank, op.peer,
                             routing_.topology().nodes());
        });
      } else if (op.kind == Op::Kind::send) {
        matcher_.add_send(rank, message(rank, op, moves.subspan(op.first_move, op.moves)), op);
        if (op.peer != rank) ++sends, injected += op.bytes;
      } else {
        matcher_.add_receive(op.peer, rank, op);
        receives += op.peer != rank ? 1 : 0;
      }
    }
    if (all_port_) most_injected_ = std::max(most_injected_, injected);
    if (!all_port_ && sends > 1)
      port_violation([&] { return fmt::format("node {} sends {} messages", rank, sends); });
    if (!all_port_ && receives > 1) {
      port_violation([&] { return fmt::format("node {} receives {} messages", rank, receives); });
    }
  }

  bool has_peer(const OpRecord& op) const {
    return op.peer >= 0 && op.peer < routing_.topology().nodes();
  }
  bool is_message(const OpRecord& op) const { return op.kind == Op::Kind::send && has_peer(op); }
  static bool is_ordered(std::span<const Move> moves) {
    return std::ranges::adjacent_find(moves, std::less_equal(), &Move::dimension) == moves.end();
  }

  /// Counts a message; returns where it ends.
  Rank message(Rank rank, const OpRecord& op, std::span<const Move> moves) {
    const Rank end = append_runs(rank, op, moves, links_.runs());
    const int hops = links_.add(op.bytes);
    ++report_.messages;
    report_.total_bytes += op.bytes;
    report_.byte_hops += op.bytes * static_cast<std::size_t>(hops);
    most_ += static_cast<double>(op.bytes) * std::max(1, hops);
    largest_ = std::max(largest_, op.bytes);
    longest_ = std::max(longest_, hops);
    // relaxed: read when all threads have ended
    if (!is_ordered(moves)) orderly_.store(false, std::memory_order_relaxed);
    return end;
  }

  /// Appends the links of a message's route; returns its end.
  Rank append_runs(Rank rank, const OpRecord& op, std::span<const Move> moves,
                   std::vector<LinkRun>& runs) const {
    if (!moves.empty()) return routing_.runs(rank, moves, runs);
    routing_.runs(rank, op.peer, runs);
    return op.peer;
  }

  /// Leaves the route in path_ and returns its end.
  Rank route(Rank rank, const OpRecord& op, std::span<const Move> moves) {
    path_.clear();
    if (!moves.empty()) return routing_.route(rank, moves, path_);
    routing_.route(rank, op.peer, path_);
    return op.peer;
  }

  void match() {
    using End = StepMatcher<OpRecord>::End;
    matcher_.match(
        [this](const End& send, const End& receive) {
          const Bytes sent = send.record->bytes, expected = receive.record->bytes;
          if (sent == expected) return;
          report_.unmatched += 2;
          unmatched_.add(step_, [&] {
            return unmatched_send_text(step_, send.from, send.to, send.tag, sent, expected);
          });
        },
        [this](const End& end, bool is_send) {
          ++report_.unmatched;
          unmatched_.add(step_, [&] {
            return is_send ? unmatched_send_text(step_, end.from, end.to, end.tag,
                                                 end.record->bytes, std::nullopt)
                           : unmatched_receive_text(step_, end.from, end.to, end.tag,
                                                    end.record->bytes);
          });
        });
  }

  /// The load of the busiest link in messages, and in bytes; checks the ports of links.
  StepLinks::Load links() {
    if (all_port_) {
      links_.each([this](Link link, const StepLinks::Counts& counts) { ports_of(link, counts); });
    }
    const StepLinks::Load most = links_.most();
    report_.link_load_max = std::max(report_.link_load_max, most.messages);
    if (most.messages > 1) contention_.add(step_, [&] { return contention(most.messages); });
    return most;
  }

  void ports_of(Link link, const StepLinks::Counts& counts) {
    const auto name = [&] { return routing_.topology().link_name(link); };
    if (counts.first > 1) {
      port_violation([&] {
        return fmt::format("{} messages leave a node by its link {}", counts.first, name());
      });
    }
    if (counts.last > 1) {
      port_violation([&] {
        return fmt::format("{} messages reach a node by its link {}", counts.last, name());
      });
    }
  }

  template <class Words>
  void port_violation(Words words) {
    ++report_.port_violations;
    ports_.add(step_, [&] { return fmt::format("step {}: {}", step_, words()); });
  }

  /// The messages that meet on the first of the links with this load: found again, since this is
  /// needed so rarely.
  std::string contention(int load) const {
    std::map<Link, int> loads;
    each_route([&](Rank /*from*/, Rank /*to*/, std::span<const Link> route) {
      for (const Link link : route) ++loads[link];
    });
    std::optional<Link> busiest;
    const auto is_busiest = [&](Link link) { return loads[link] == load; };
    each_route([&](Rank /*from*/, Rank /*to*/, std::span<const Link> route) {
      const auto found = std::ranges::find_if(route, is_busiest);
      if (!busiest && found != route.end()) busiest = *found;
    });
    std::string text = fmt::format("step {}: link {} carries {} messages:", step_,
                                   routing_.topology().link_name(*busiest), load);
    constexpr int most_named = 4;
    int named = 0;
    each_route([&](Rank from, Rank to, std::span<const Link> route) {
      if (named > most_named || std::ranges::find(route, *busiest) == route.end()) return;
      text += ++named > most_named ? ", ..."
                                   : fmt::format("{} {} to {}", named == 1 ? "" : ",", from, to);
    });
    return text;
  }
  /// Calls f(from, to, links) for each message of the step.
  template <class F>
  void each_route(F f) const {
    std::vector<LinkRun> runs;
    std::vector<Link> route;
    for (Rank rank = 0; rank < routing_.topology().nodes(); ++rank) {
      for (const OpRecord& op : schedule_.ops(rank, step_)) {
        if (!is_message(op)) continue;
        runs.clear(), route.clear();
        append_runs(rank, op, schedule_.moves(rank, op), runs);
        for (const LinkRun& run : runs) {
          for (int i = 0; i < run.count; ++i) route.push_back(run.first + Link{run.step} * i);
        }
        f(rank, op.peer, std::span<const Link>(route));
      }
    }
  }

  const Schedule& schedule_;
  const Routing& routing_;
  const bool all_port_;
  std::span<StepFigures> per_step_;
  StepMatcher<OpRecord> matcher_;
  StepLinks links_;
  std::atomic<bool>& orderly_;
  std::vector<Channel> path_;
  std::vector<StepOps> gathered_;

  // The step being checked.
  std::size_t step_ = 0;
  Bytes largest_ = 0, most_injected_ = 0;
  int longest_ = 0;
};

/// What nodes rearrange and combine before each step, and after the last: the maximum over nodes.
/// Node by node, because each node's figures are contiguous.
std::vector<StepFigures> local_work(const Schedule& schedule, std::size_t steps) {
  std::vector<StepFigures> per_step(steps + 1);
  const auto raise = [&](const GapBytes& of_node, Bytes StepFigures::*figure) {
    for (const auto& [gap, bytes] : of_node.filled()) {
      if (gap > steps) continue;
      per_step[gap].*figure = std::max(per_step[gap].*figure, bytes);
    }
  };
  for (const RankLog& log : schedule.ranks) {
    raise(log.rearranged, &StepFigures::rearranged);
    raise(log.combined, &StepFigures::combined);
  }
  return per_step;
}

}  // namespace

ScheduleReport check(const Schedule& schedule, const Routing& routing, bool all_port) {
  if (!(schedule.topology == routing.topology())) {
    throw UsageError(fmt::format("check: the schedule is for {}, the routing for {}",
                                 schedule.topology.name(), routing.topology().name()));
  }
  if (schedule.ranks.size() != static_cast<std::size_t>(schedule.topology.nodes())) {
    throw UsageError(fmt::format("check: the schedule has {} ranks, {} has {} nodes",
                                 schedule.ranks.size(), schedule.topology.name(),
                                 schedule.topology.nodes()));
  }
  const std::size_t steps = schedule.steps();
  std::vector<StepFigures> per_step = local_work(schedule, steps);
  std::atomic<bool> orderly{true};
  EachThread<Checker> checkers(
      [&] { return Checker(schedule, routing, all_port, per_step, orderly); });
  {
    // As many steps at a time as keep the gathered ops small.
    constexpr std::size_t most_ops = 1 << 17, most_at_a_time = 256;
    const std::size_t in_step = 2 * schedule.messages() / std::max<std::size_t>(1, steps);
    const std::size_t at_a_time =
        std::clamp<std::size_t>(most_ops / std::max<std::size_t>(1, in_step), 1, most_at_a_time);
    const std::size_t groups = steps / at_a_time + 1;
    LongLoop loop("counting", groups);
    parallel_for_each_index(groups, [&](std::size_t group) {
      DryRunLimit::require();
      checkers.local().check(group * at_a_time, std::min((group + 1) * at_a_time, steps + 1));
      loop.step();
    });
  }
  StepFindings whole;
  for (Checker& checker : checkers) whole.add(checker);
  whole.require_countable();

  std::vector<Channel> cycle;
  if (!orderly || dependency_cycle(routing)) {
    Dependencies dependencies;
    for (std::size_t step = 0; step < steps; ++step) checkers.local().follow(step, dependencies);
    cycle = dependencies.cycle();
  }
  bool steps_are_acyclic = true;
  for (std::size_t step = 0; !cycle.empty() && steps_are_acyclic && step < steps; ++step) {
    Dependencies dependencies;
    checkers.local().follow(step, dependencies);
    steps_are_acyclic = dependencies.cycle().empty();
  }

  ScheduleReport report = whole.finish(routing, cycle, steps_are_acyclic);
  report.steps = steps;
  report.per_step = std::move(per_step);
  for (const RankLog& log : schedule.ranks) {
    report.peak_bytes = std::max(report.peak_bytes, log.peak_bytes);
    report.peak_block_bytes = std::max(report.peak_block_bytes, log.peak_block_bytes);
  }
  return report;
}

}  // namespace wormcube
