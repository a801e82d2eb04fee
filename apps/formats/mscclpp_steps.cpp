// Lays the messages of an MSCCL++ plan into steps, as text 2.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/mscclpp_data.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace wormcube::apps {

NamedSchedule PlanData::lay(bool named) const {
  const int ranks = plan_.ranks();
  std::size_t steps = 0;
  for (const PlanMessage& message : messages_)
    steps = std::max(steps, static_cast<std::size_t>(message.step + 1));
  NamedSchedule result{{Topology::parse(fmt::format("complete:{}", ranks)), {}}, words_};
  if (plan_.collective != MscclCollective::custom)
    result.operation = NamedOperation{.name = std::string(to_string(plan_.collective))};
  result.form.parts = chunks_.parts;
  result.form.block = static_cast<Bytes>(chunks_.parts);
  if (result.operation)
    result.form.several_blocks = operation_facts(*result.operation, ranks).several_blocks;
  result.commutative = plan_.collective == MscclCollective::allreduce ||
                       plan_.collective == MscclCollective::reduce ||
                       plan_.collective == MscclCollective::reduce_scatter;
  if (!plan_.name.empty()) result.about.push_back("MSCCL++: " + plan_.name);
  std::vector<std::vector<std::size_t>> of_rank(static_cast<std::size_t>(ranks));
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    of_rank[static_cast<std::size_t>(messages_[m].from)].push_back(m);
    of_rank[static_cast<std::size_t>(messages_[m].to)].push_back(m);
  }
  std::vector<std::vector<const PlanCombination*>> pairs(of_rank.size());
  for (const PlanCombination& each : combinations_) {
    if (named) pairs[static_cast<std::size_t>(each.gpu)].push_back(&each);
  }
  for (std::size_t g = 0; g < of_rank.size(); ++g) {
    std::ranges::stable_sort(of_rank[g], {}, [&](std::size_t m) { return messages_[m].step; });
    std::ranges::stable_sort(pairs[g], {}, [](const PlanCombination* each) { return each->gap; });
    RankLog log;
    RankNames names;
    for (const PlanCombination* const each : pairs[g]) {
      const auto gap = static_cast<std::size_t>(each->gap);
      if (names.gaps.empty() || names.gaps.back().step != gap)
        names.gaps.push_back({gap, names.pairs.size(), 0});
      names.pairs.push_back({each->left, each->right});
      names.gaps.back().end = names.pairs.size();
      log.combined.add(gap, 1);
      ++names.gaps.back().bytes;
    }
    auto next = of_rank[g].begin();
    for (std::size_t step = 0; step < steps; ++step) {
      for (; next != of_rank[g].end() && messages_[*next].step == static_cast<std::int64_t>(step);
           ++next) {
        const PlanMessage& message = messages_[*next];
        const bool is_send = message.from == static_cast<int>(g);
        log.ops.push_back({.kind = is_send ? Op::Kind::send : Op::Kind::receive,
                           .moves = 0,
                           .peer = is_send ? message.to : message.from,
                           .tag = 0,
                           .first_move = 0,
                           .bytes = message.values.size()});
        if (is_send && named)
          names.values.insert(names.values.end(), message.values.begin(), message.values.end());
        names.ends.push_back(static_cast<std::uint32_t>(names.values.size()));
        names.named.push_back(is_send && named);
      }
      log.step_ends.push_back(static_cast<std::uint32_t>(log.ops.size()));
    }
    result.schedule.ranks.push_back(std::move(log));
    result.names.push_back(std::move(names));
  }
  return result;
}

}  // namespace wormcube::apps
