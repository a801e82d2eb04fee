// The schedule of a proved call: its messages and combinations, with the values that they carry.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/prove/prover.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube::mpi {

namespace {

NamedValue value_of(const Mark& mark) { return {mark.word, mark.block, mark.element}; }

/// The steps of each rank, filled message by message.
class NamedWriter {
 public:
  NamedWriter(NamedSchedule& named, const Marks& marks) : named_(named), marks_(marks) {}

  void message(const MatchedMessage& message) {
    const SentMessage& sent = message.sent->message;
    log(Op::Kind::send, sent.from, sent.to, *message.sent);
    log(Op::Kind::receive, sent.to, sent.from, *message.sent);
  }
  void end_step() {
    for (RankLog& rank : named_.schedule.ranks)
      rank.step_ends.push_back(static_cast<std::uint32_t>(rank.ops.size()));
  }
  /// Combinations before a step, which ascends.
  void gap(std::size_t step, const CallLog::Combination& combination) {
    RankNames& names = named_.names[static_cast<std::size_t>(combination.rank)];
    if (combination.results.empty()) return;
    if (names.gaps.empty() || names.gaps.back().step != step)
      names.gaps.push_back({step, names.pairs.size(), 0});
    for (const std::uint32_t result : combination.results) {
      const Mark& mark = marks_[result];
      if (mark.kind != Mark::Kind::value) continue;
      names.pairs.push_back({value_of(marks_[mark.left]), value_of(marks_[mark.right])});
    }
    RankNames::Gap& gap = names.gaps.back();
    gap.bytes += (names.pairs.size() - gap.end) * sizeof(Handle);
    gap.end = names.pairs.size();
  }
  void finish() {
    for (std::size_t i = 0; i < named_.names.size(); ++i) {
      RankLog& rank = named_.schedule.ranks[i];
      for (const RankNames::Gap& gap : named_.names[i].gaps) rank.combined.add(gap.step, gap.bytes);
    }
  }

 private:
  void log(Op::Kind kind, Rank at, Rank peer, const CallLog::End& sent) {
    named_.schedule.ranks[static_cast<std::size_t>(at)].ops.push_back(
        {kind, 0, peer, sent.message.tag, 0, sent.message.bytes});
    RankNames& names = named_.names[static_cast<std::size_t>(at)];
    bool is_named = kind == Op::Kind::send && sent.is_whole;
    for (const std::uint32_t mark : sent.marks)
      is_named = is_named && marks_[mark].kind == Mark::Kind::value;
    if (is_named) {
      for (const std::uint32_t mark : sent.marks) names.values.push_back(value_of(marks_[mark]));
    }
    names.ends.push_back(static_cast<std::uint32_t>(names.values.size()));
    names.named.push_back(is_named);
  }

  NamedSchedule& named_;
  const Marks& marks_;
};

}  // namespace

void Prover::keep_schedule() {
  const ProofCase& call = now();
  const bool moves_data = function_.operation->moves_data;
  if (moves_data && call.count == 0) {
    outcome_.no_schedule = "the last of --counts is 0";
    return;
  }
  const MatchedLog all = matched(log_, size_);
  Arguments with = arguments();
  if (function_.operation->reduces) with.reduction = interval_reduction();
  const Goal goal = goal_of(function_.operation, with, size_);
  NamedSchedule named{.schedule = {Topology::parse(fmt::format("complete:{}", size_)), {}},
                      .words = marks_.words()};
  const auto nodes = static_cast<std::size_t>(size_);
  named.schedule.ranks.resize(nodes);
  named.names.resize(nodes);
  if (moves_data) {
    named.form.several_blocks = goal.several_blocks;
    named.form.parts = static_cast<Rank>(call.count);
    named.form.element = sizeof(Handle);
    named.form.block = call.count * sizeof(Handle);
  }
  named.operation = named_operation(function_.operation, with);
  named.commutative = function_.operation->reduces && call.commutes;

  NamedWriter writer(named, marks_);
  std::size_t steps = all.messages.empty() ? 0 : all.messages.back().step + 1;
  auto next = all.messages.begin();
  for (std::size_t step = 0; step < steps; ++step) {
    for (; next != all.messages.end() && next->step == step; ++next) writer.message(*next);
    writer.end_step();
  }
  std::vector<std::size_t> order(log_.combinations.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return all.gaps[i]; });
  for (const std::size_t i : order) writer.gap(all.gaps[i], log_.combinations[i]);
  writer.finish();
  outcome_.schedule = std::move(named);
}

std::optional<ProofFinding> Prover::not_all_entered() {
  for (const Function each : log_.collectives) {
    if (std::string_view(name_of(each)) == function_.name) return std::nullopt;
  }
  keep_schedule();
  const Goal goal = goal_of(function_.operation, {}, size_);
  const NamedReport proof = prove_named(*outcome_.schedule, &goal);
  if (proof.delivered == true) return std::nullopt;
  ProofFinding finding;
  finding.text = proof.findings.empty() ? proof.reason : proof.findings.front();
  return finding;
}

}  // namespace wormcube::mpi
