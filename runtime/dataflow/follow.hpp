// The walk over a named schedule.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/dataflow/named.hpp"
#include "wormcube/runtime/schedule/step_matcher.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace wormcube {

using FlowEnd = StepMatcher<OpRecord>::End;

/// What follow() calls, in this order; a visitor hides the functions that it needs.
///
/// Of each step: first what nodes combine before it, node by node; then its messages. What a
/// message brings belongs to the receiver from end_step() on, since nobody sends on in a step what
/// it receives there. After the last step, combinations alone.
struct FlowVisitor {
  void begin_step(std::size_t /*step*/) {}
  /// A line of a node that has ended.
  void ended(std::size_t /*step*/, Rank /*node*/) {}
  void combined(std::size_t /*step*/, Rank /*node*/, const RankNames::Gap& /*gap*/,
                std::span<const RankNames::Pair> /*pairs*/) {}
  /// All nodes have combined.
  void begin_messages(std::size_t /*step*/) {}
  /// Each send and receive, node by node, in the order posted; values of sends alone.
  void posted(std::size_t /*step*/, Rank /*node*/, const OpRecord& /*op*/,
              std::span<const NamedValue> /*values*/) {}
  /// Each message, receiver by receiver. \param receive  nullptr: there is none
  void message(std::size_t /*step*/, const FlowEnd& /*send*/, const FlowEnd* /*receive*/,
               std::span<const NamedValue> /*values*/) {}
  /// A receive without a send.
  void unmatched(std::size_t /*step*/, const FlowEnd& /*receive*/) {}
  void end_step(std::size_t /*step*/) {}
};

/// The number of a send or a receive in its node's log.
inline std::size_t number_of(const Schedule& schedule, Rank node, const OpRecord& op) {
  return static_cast<std::size_t>(&op - schedule.ranks[static_cast<std::size_t>(node)].ops.data());
}

/// Walks over the whole schedule. The visitor may change sizes, and nothing else, while it does.
template <class Visitor>
void follow(const NamedSchedule& named, Visitor& visitor) {
  const Schedule& schedule = named.schedule;
  const Rank nodes = schedule.topology.nodes();
  const std::size_t steps = schedule.steps();
  std::vector<std::size_t> next_gaps(static_cast<std::size_t>(nodes));
  StepMatcher<OpRecord> matcher(nodes);
  std::vector<Rank> ended;
  auto next_ended = named.after_end.begin();
  const auto values_of = [&](Rank node, const OpRecord& op) {
    return named.names[static_cast<std::size_t>(node)].of(number_of(schedule, node, op));
  };
  for (std::size_t step = 0; step <= steps; ++step) {
    visitor.begin_step(step);
    ended.clear();
    for (; next_ended != named.after_end.end() && next_ended->first == step; ++next_ended)
      ended.push_back(next_ended->second);
    std::ranges::sort(ended);
    auto late = ended.begin();
    for (Rank node = 0; node < nodes; ++node) {
      for (; late != ended.end() && *late == node; ++late) visitor.ended(step, node);
      const RankNames& names = named.names[static_cast<std::size_t>(node)];
      std::size_t& next = next_gaps[static_cast<std::size_t>(node)];
      if (next == names.gaps.size() || names.gaps[next].step != step) continue;
      const std::size_t begin = next == 0 ? 0 : names.gaps[next - 1].end;
      const RankNames::Gap& gap = names.gaps[next++];
      visitor.combined(step, node, gap, std::span(names.pairs).subspan(begin, gap.end - begin));
    }
    visitor.begin_messages(step);
    if (step == steps) break;
    for (Rank node = 0; node < nodes; ++node) {
      for (const OpRecord& op : schedule.ops(node, step)) {
        const bool is_send = op.kind == Op::Kind::send;
        visitor.posted(step, node, op,
                       is_send ? values_of(node, op) : std::span<const NamedValue>());
        if (is_send) {
          matcher.add_send(node, op.peer, op);
        } else {
          matcher.add_receive(op.peer, node, op);
        }
      }
    }
    matcher.match(
        [&](const FlowEnd& send, const FlowEnd& receive) {
          visitor.message(step, send, &receive, values_of(send.from, *send.record));
        },
        [&](const FlowEnd& end, bool is_send) {
          if (is_send) {
            visitor.message(step, end, nullptr, values_of(end.from, *end.record));
          } else {
            visitor.unmatched(step, end);
          }
        });
    visitor.end_step(step);
  }
}

}  // namespace wormcube
