// Lays messages that require each other into steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/dependency_steps.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace wormcube::apps {

void DependencySteps::fail(const Operation& operation, const std::string& what) const {
  throw UsageError(is_text_ ? fmt::format("{}:{}: {}", name_, operation.line, what)
                            : fmt::format("{}: {}: {}", name_, place(operation), what));
}

std::string DependencySteps::place(const Operation& operation) const {
  return is_text_ ? fmt::format("line {}", operation.line)
                  : fmt::format("rank {}, node {}", operation.rank, operation.line);
}

/// The n-th send from one rank to another with a tag goes to the n-th receive.
void DependencySteps::match() {
  std::map<std::tuple<Rank, Rank, Tag>, std::pair<std::vector<std::uint32_t>, std::size_t>> sends;
  event_.assign(operations_.size(), 0);
  for (std::uint32_t i = 0; i < operations_.size(); ++i) {
    const Operation& op = operations_[i];
    if (op.kind == Kind::receive) continue;
    event_[i] = static_cast<std::uint32_t>(events_++);
    if (op.kind == Kind::send) sends[{op.rank, op.peer, op.tag}].first.push_back(i);
  }
  for (std::uint32_t i = 0; i < operations_.size(); ++i) {
    const Operation& op = operations_[i];
    if (op.kind != Kind::receive) continue;
    auto& [of_pair, next] = sends[{op.peer, op.rank, op.tag}];
    if (next == of_pair.size()) {
      fail(op, fmt::format("rank {} receives {} bytes from {} with tag {}, which sends none",
                           op.rank, op.bytes, op.peer, op.tag));
    }
    const std::uint32_t send = of_pair[next++];
    if (operations_[send].bytes != op.bytes) {
      fail(op, fmt::format("rank {} receives {} bytes from {}, which sends {} ({})", op.rank,
                           op.bytes, op.peer, operations_[send].bytes, place(operations_[send])));
    }
    event_[i] = event_[send];
  }
  for (const auto& [pair, list] : sends) {
    if (list.second == list.first.size()) continue;
    const Operation& op = operations_[list.first[list.second]];
    fail(op, fmt::format("rank {} sends {} bytes to {} with tag {}, which receives none", op.rank,
                         op.bytes, op.peer, op.tag));
  }
}

/// Longest paths. Events that only start after each other (not strict) may share a step, even in a
/// ring: such rings are found by rounds, which end unless a strict edge lies in one.
void DependencySteps::find_steps() {
  std::vector<bool> is_local(events_, false);
  for (std::size_t i = 0; i < operations_.size(); ++i)
    is_local[event_[i]] = operations_[i].kind == Kind::local;
  std::vector<std::size_t> starts(events_ + 1, 0);
  for (const Edge& edge : edges_) ++starts[event_[edge.earlier] + 1];
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  std::vector<const Edge*> after(edges_.size());
  std::vector<std::size_t> next(starts.begin(), starts.end() - 1), degree(events_, 0);
  for (const Edge& edge : edges_) {
    after[next[event_[edge.earlier]]++] = &edge;
    ++degree[event_[edge.later]];
  }
  step_.assign(events_, 0);
  for (std::size_t e = 0; e < events_; ++e) step_[e] = is_local[e] ? -1 : 0;
  /// The least step of `later` that an edge allows.
  const auto least = [&](const Edge& edge) {
    const std::size_t from = event_[edge.earlier], to = event_[edge.later];
    std::int64_t step = step_[from];
    if (!is_local[from] && !edge.strict) --step;  // it has only started
    return is_local[to] ? step : step + 1;
  };
  std::vector<std::uint32_t> ready;
  for (std::uint32_t e = 0; e < events_; ++e) {
    if (degree[e] == 0) ready.push_back(e);
  }
  std::size_t done = 0;
  const auto drain = [&] {
    while (!ready.empty()) {
      const std::uint32_t e = ready.back();
      ready.pop_back();
      ++done;
      for (std::size_t i = starts[e]; i < starts[e + 1]; ++i) {
        const std::uint32_t to = event_[after[i]->later];
        step_[to] = std::max(step_[to], least(*after[i]));
        if (--degree[to] == 0) ready.push_back(to);
      }
    }
  };
  drain();
  if (done == events_) return;
  // What is left is in a ring, or after one.
  constexpr std::size_t most_rounds = 1000;
  bool changed = true;
  const Edge* last = nullptr;
  for (std::size_t round = 0; changed && round < most_rounds; ++round) {
    changed = false;
    for (const Edge& edge : edges_) {
      std::int64_t& step = step_[event_[edge.later]];
      if (const std::int64_t wanted = least(edge); wanted > step)
        step = wanted, changed = true, last = &edge;
    }
  }
  if (changed) {
    const Operation& op = operations_[last->later];
    fail(op,
         fmt::format("a deadlock: what this operation of rank {} waits for waits for it", op.rank));
  }
}

Schedule DependencySteps::schedule(const std::function<void(double)>& charge) {
  charge(static_cast<double>(operations_.size()) * 160 +
         static_cast<double>(edges_.size()) * 2 * sizeof(Edge));
  match();
  find_steps();
  std::size_t steps = 0;
  for (const Operation& op : operations_) {
    if (op.kind != Kind::local)
      steps =
          std::max(steps, static_cast<std::size_t>(step_[event_[&op - operations_.data()]]) + 1);
  }
  charge(static_cast<double>(ranks_) * static_cast<double>(steps + 1) *
         (2 * sizeof(Bytes) + sizeof(std::uint32_t)));
  Schedule schedule{Topology::parse(fmt::format("complete:{}", ranks_)), {}};
  schedule.ranks.resize(static_cast<std::size_t>(ranks_));
  std::vector<std::vector<std::uint32_t>> of_rank(schedule.ranks.size());
  for (std::uint32_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i].kind != Kind::local)
      of_rank[static_cast<std::size_t>(operations_[i].rank)].push_back(i);
  }
  for (std::size_t r = 0; r < of_rank.size(); ++r) {
    std::ranges::stable_sort(of_rank[r], {}, [&](std::uint32_t i) { return step_[event_[i]]; });
    RankLog& log = schedule.ranks[r];
    auto next = of_rank[r].begin();
    for (std::size_t step = 0; step < steps; ++step) {
      for (; next != of_rank[r].end() && step_[event_[*next]] == static_cast<std::int64_t>(step);
           ++next) {
        const Operation& op = operations_[*next];
        log.ops.push_back({.kind = op.kind == Kind::send ? Op::Kind::send : Op::Kind::receive,
                           .moves = 0,
                           .peer = op.peer,
                           .tag = op.tag,
                           .first_move = 0,
                           .bytes = op.bytes});
      }
      log.step_ends.push_back(static_cast<std::uint32_t>(log.ops.size()));
    }
  }
  return schedule;
}

}  // namespace wormcube::apps
