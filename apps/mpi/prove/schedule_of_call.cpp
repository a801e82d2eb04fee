// The schedule of a proved call: its messages and combinations, with the values that they carry.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/prove/prover.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/dataflow/builder.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube::mpi {

namespace {

NamedValue value_of(const Mark& mark) { return {mark.word, mark.block, mark.element}; }

/// The values of a message; nothing if some of its data is none.
std::optional<std::vector<NamedValue>> values_of(const CallLog::End& sent, const Marks& marks) {
  std::vector<NamedValue> values;
  for (const std::uint32_t mark : sent.marks) {
    if (marks[mark].kind != Mark::Kind::value) return std::nullopt;
    values.push_back(value_of(marks[mark]));
  }
  return sent.is_whole ? std::optional(std::move(values)) : std::nullopt;
}

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
  if (moves_data) {
    named.form.several_blocks = goal.several_blocks;
    named.form.parts = static_cast<Rank>(call.count);
    named.form.element = sizeof(Handle);
    named.form.block = call.count * sizeof(Handle);
  }
  named.operation = named_operation(function_.operation, with);
  named.commutative = function_.operation->reduces && call.commutes;

  NamedBuilder builder(std::move(named));
  const std::size_t steps = all.messages.empty() ? 0 : all.messages.back().step + 1;
  auto next = all.messages.begin();
  for (std::size_t step = 0; step < steps; ++step) {
    builder.begin_step();
    for (; next != all.messages.end() && next->step == step; ++next) {
      const SentMessage& sent = next->sent->message;
      const auto values = values_of(*next->sent, marks_);
      builder.message(sent.from, sent.to, sent.tag, sent.bytes,
                      values ? NamedBuilder::Values(*values) : std::nullopt);
    }
  }
  std::vector<std::size_t> order(log_.combinations.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return all.gaps[i]; });
  for (const std::size_t i : order) {
    const CallLog::Combination& combination = log_.combinations[i];
    std::vector<RankNames::Pair> pairs;
    for (const std::uint32_t result : combination.results) {
      const Mark& mark = marks_[result];
      if (mark.kind == Mark::Kind::value)
        pairs.push_back({value_of(marks_[mark.left]), value_of(marks_[mark.right])});
    }
    if (!combination.results.empty())
      builder.combine(combination.rank, all.gaps[i], pairs, pairs.size() * sizeof(Handle));
  }
  outcome_.schedule = builder.finish();
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
