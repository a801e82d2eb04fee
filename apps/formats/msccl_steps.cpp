// Lays the messages of an MSCCL algorithm into steps, as text 2.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/msccl_data.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

/// The least step of each message that its two thread blocks allow; and for each event the last
/// step that it needs.
class MscclLayout {
 public:
  explicit MscclLayout(const MscclRun& run)
      : run_(run), steps_(run.messages.size(), -1), needed_(run.events.size(), -1) {}

  /// False if only the FIFOs order its thread blocks.
  bool find() {
    const auto most = static_cast<std::int64_t>(run_.messages.size());
    while (pass()) {
      if (std::ranges::any_of(steps_, [&](std::int64_t step) { return step >= most; }))
        return false;
    }
    return true;
  }
  std::int64_t step(std::size_t message) const { return steps_[message]; }
  std::int64_t needed(std::size_t event) const { return needed_[event]; }

 private:
  struct Last {
    std::int64_t needed = -1, sent = -1, received = -1;
  };

  bool pass() {
    bool changed = false;
    std::vector<Last> last(run_.blocks.size());
    const auto raise = [&](std::int64_t message, std::int64_t least) {
      std::int64_t& step = steps_[static_cast<std::size_t>(message)];
      changed = changed || least > step;
      step = std::max(step, least);
      return step;
    };
    for (std::size_t e = 0; e < run_.events.size(); ++e) {
      const MscclEvent& event = run_.events[e];
      Last& here = last[event.block];
      if (event.after >= 0)
        here.needed = std::max(here.needed, needed_[static_cast<std::size_t>(event.after)]);
      if (event.received >= 0) {
        here.received = raise(event.received, 1 + std::max(here.needed, here.received));
        here.needed = std::max(here.needed, here.received);
      }
      if (event.sent >= 0) here.sent = raise(event.sent, 1 + std::max(here.needed, here.sent));
      needed_[e] = here.needed;
    }
    return changed;
  }

  const MscclRun& run_;
  std::vector<std::int64_t> steps_, needed_;
};

struct LaidOp {
  std::int64_t step;
  std::int64_t event;
  std::size_t message;
  bool is_send;
};

}  // namespace

std::optional<NamedSchedule> lay_msccl(const MscclAlgorithm& algorithm, const MscclRun& run,
                                       const MscclData* data) {
  MscclLayout layout(run);
  if (!layout.find()) return std::nullopt;
  std::size_t steps = 0;
  for (std::size_t m = 0; m < run.messages.size(); ++m)
    steps = std::max(steps, static_cast<std::size_t>(layout.step(m) + 1));

  const int ranks = algorithm.ranks();
  NamedSchedule named{{Topology::parse(fmt::format("complete:{}", ranks)), {}},
                      data != nullptr ? data->words() : Words(ranks)};
  if (algorithm.collective != MscclCollective::custom)
    named.operation = NamedOperation{.name = std::string(to_string(algorithm.collective))};
  named.form.parts = algorithm.parts();
  named.form.block = static_cast<Bytes>(algorithm.parts());
  if (named.operation)
    named.form.several_blocks = operation_facts(*named.operation, ranks).several_blocks;
  named.commutative = algorithm.reduces();
  if (!algorithm.name.empty()) named.about.push_back("MSCCL: " + algorithm.name);

  std::vector<std::vector<LaidOp>> ops(static_cast<std::size_t>(ranks));
  for (std::size_t m = 0; m < run.messages.size(); ++m) {
    const MscclMessage& message = run.messages[m];
    ops[static_cast<std::size_t>(message.from)].push_back({layout.step(m), message.sent, m, true});
    ops[static_cast<std::size_t>(message.to)].push_back(
        {layout.step(m), message.received, m, false});
  }
  std::vector<std::vector<std::pair<std::size_t, const MscclData::Combination*>>> pairs(ops.size());
  static const std::vector<MscclData::Combination> none;
  for (const MscclData::Combination& each : data != nullptr ? data->combinations() : none) {
    const int gpu = run.blocks[run.events[each.event].block].gpu;
    pairs[static_cast<std::size_t>(gpu)].emplace_back(
        static_cast<std::size_t>(layout.needed(each.event) + 1), &each);
  }
  for (std::size_t g = 0; g < ops.size(); ++g) {
    std::ranges::stable_sort(ops[g], [](const LaidOp& a, const LaidOp& b) {
      return std::pair(a.step, a.event) < std::pair(b.step, b.event);
    });
    std::ranges::stable_sort(pairs[g], {}, [](const auto& pair) { return pair.first; });
    RankLog log;
    RankNames names;
    for (const auto& [gap, each] : pairs[g]) {
      if (names.gaps.empty() || names.gaps.back().step != gap)
        names.gaps.push_back({gap, names.pairs.size(), 0});
      names.pairs.push_back({each->left, each->right});
      names.gaps.back().end = names.pairs.size();
      log.combined.add(gap, 1);
      ++names.gaps.back().bytes;
    }
    auto next = ops[g].begin();
    for (std::size_t step = 0; step < steps; ++step) {
      for (; next != ops[g].end() && next->step == static_cast<std::int64_t>(step); ++next) {
        const MscclMessage& message = run.messages[next->message];
        log.ops.push_back({.kind = next->is_send ? Op::Kind::send : Op::Kind::receive,
                           .moves = 0,
                           .peer = next->is_send ? message.to : message.from,
                           .tag = message.channel,
                           .first_move = 0,
                           .bytes = message.count});
        if (next->is_send && data != nullptr) {
          const std::vector<NamedValue>& values = data->contents(next->message);
          names.values.insert(names.values.end(), values.begin(), values.end());
        }
        names.ends.push_back(static_cast<std::uint32_t>(names.values.size()));
        names.named.push_back(next->is_send && data != nullptr);
      }
      log.step_ends.push_back(static_cast<std::uint32_t>(log.ops.size()));
    }
    named.schedule.ranks.push_back(std::move(log));
    named.names.push_back(std::move(names));
  }
  return named;
}

}  // namespace wormcube::apps
