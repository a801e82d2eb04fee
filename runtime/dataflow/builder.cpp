// Makes named schedules.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/dataflow/builder.hpp"

#include "wormcube/runtime/dataflow/follow.hpp"

#include <algorithm>
#include <utility>

namespace wormcube {

NamedBuilder::NamedBuilder(NamedSchedule header) : named_(std::move(header)) {
  const auto nodes = static_cast<std::size_t>(named_.schedule.topology.nodes());
  named_.schedule.ranks.resize(nodes);
  named_.names.resize(nodes);
}

void NamedBuilder::begin_step() {
  for (RankLog& log : named_.schedule.ranks) {
    if (log.step_ends.size() == steps_)
      log.step_ends.push_back(static_cast<std::uint32_t>(log.ops.size()));
  }
  ++steps_;
}

void NamedBuilder::add(Rank node, OpRecord op, Values values, std::span<const Move> moves) {
  RankLog& log = this->log(node);
  op.first_move = static_cast<std::uint32_t>(log.moves.size());
  op.moves = static_cast<std::uint16_t>(moves.size());
  log.moves.insert(log.moves.end(), moves.begin(), moves.end());
  log.ops.push_back(op);
  log.step_ends.back() = static_cast<std::uint32_t>(log.ops.size());
  name(node, values);
}

void NamedBuilder::message(Rank from, Rank to, Tag tag, Bytes bytes, Values values) {
  add(from, {Op::Kind::send, 0, to, tag, 0, bytes}, values);
  add(to, {Op::Kind::receive, 0, from, tag, 0, bytes}, std::nullopt);
}

void NamedBuilder::name(Rank node, Values values) {
  RankNames& names = this->names(node);
  if (values) names.values.insert(names.values.end(), values->begin(), values->end());
  names.ends.push_back(static_cast<std::uint32_t>(names.values.size()));
  names.named.push_back(values.has_value());
}

void NamedBuilder::combine(Rank node, std::size_t step, std::span<const RankNames::Pair> pairs,
                           Bytes bytes) {
  RankNames& names = this->names(node);
  if (names.gaps.empty() || names.gaps.back().step != step)
    names.gaps.push_back({step, names.pairs.size(), 0});
  names.pairs.insert(names.pairs.end(), pairs.begin(), pairs.end());
  names.gaps.back().end = names.pairs.size();
  names.gaps.back().bytes += bytes;
}

NamedSchedule NamedBuilder::finish() {
  for (std::size_t r = 0; r < named_.names.size(); ++r) {
    RankLog& log = named_.schedule.ranks[r];
    RankNames& names = named_.names[r];
    names.ends.resize(log.ops.size(), static_cast<std::uint32_t>(names.values.size()));
    names.named.resize(log.ops.size(), false);
    for (const RankNames::Gap& gap : names.gaps)
      log.combined.set(std::min(gap.step, log.step_ends.size()), gap.bytes);
  }
  return std::move(named_);
}

NamedSchedule without_names(Schedule schedule) {
  Words words(schedule.topology.nodes());
  return NamedBuilder({std::move(schedule), std::move(words)}).finish();
}

namespace {

/// Sets sizes while it reads names.
struct SizesOfNames : FlowVisitor {
  explicit SizesOfNames(NamedSchedule& of) : named(of) {}

  Bytes bytes_of(const NamedValue& value) const {
    return named.form.bytes(named.words, value).value_or(0);
  }
  void combined(std::size_t step, Rank node, const RankNames::Gap& gap,
                std::span<const RankNames::Pair> pairs) {
    Bytes bytes = 0;
    for (const RankNames::Pair& pair : pairs) bytes += bytes_of(pair.left);
    const auto r = static_cast<std::size_t>(node);
    named.names[r].gaps[static_cast<std::size_t>(&gap - named.names[r].gaps.data())].bytes = bytes;
    RankLog& log = named.schedule.ranks[r];
    log.combined.set(std::min(step, log.step_ends.size()), bytes);
  }
  void message(std::size_t, const FlowEnd& send, const FlowEnd* receive,
               std::span<const NamedValue> values) {
    if (receive == nullptr) return;
    Bytes bytes = 0;
    for (const NamedValue& value : values) bytes += bytes_of(value);
    const Bytes known = send.record->bytes;
    most = std::max(most, std::max(known, bytes) - std::min(known, bytes));
    for (const auto& [node, end] : {std::pair(send.from, &send), std::pair(send.to, receive)}) {
      RankLog& log = named.schedule.ranks[static_cast<std::size_t>(node)];
      log.ops[static_cast<std::size_t>(end->record - log.ops.data())].bytes = bytes;
    }
  }

  NamedSchedule& named;
  Bytes most = 0;
};

}  // namespace

Bytes size_by_names(NamedSchedule& named) {
  SizesOfNames sizes(named);
  follow(named, sizes);
  return sizes.most;
}

}  // namespace wormcube
