// Gives each value of a schedule a place on each node that holds it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/schedule_plan.hpp"

#include "wormcube/runtime/dataflow/held_values.hpp"
#include "wormcube/runtime/schedule/step_matcher.hpp"

#include <map>
#include <tuple>

namespace wormcube {

namespace {

/// Makes a node's plan, step by step.
class PlanMaker {
 public:
  PlanMaker(Rank node, Rank gives, const ValueForm& form, SlotPlan& plan) : plan_(plan) {
    plan.inputs = gives;
    for (Rank block = 0; block < gives; ++block) {
      for (Rank part = 0; part < form.parts; ++part)
        slot({static_cast<WordId>(node), block, part}, node);
    }
  }
  void begin() { plan_.gaps.emplace_back(), plan_.steps.emplace_back(); }
  void combine(Words& words, const RankNames::Pair& pair) {
    const NamedValue both{words.join(pair.left.word, pair.right.word), pair.left.block,
                          pair.left.part};
    const SlotId left = held(pair.left), right = held(pair.right);
    plan_.gaps.back().push_back({left, right, slot(both, words.front(both.word))});
  }
  SlotPlan::Message& message(const OpRecord& op) {
    plan_.steps.back().push_back(
        {op.kind == Op::Kind::send, op.peer, op.tag, op.first_move, op.moves, op.bytes, {}});
    return plan_.steps.back().back();
  }
  SlotId held(const NamedValue& value) const { return places_.find(value)->tree; }
  bool holds(const NamedValue& value) const { return places_.find(value) != nullptr; }
  /// A place for a value, which the node may hold already.
  SlotId slot(const NamedValue& value, Rank front) {
    const auto id = static_cast<SlotId>(plan_.slots.size());
    plan_.slots.push_back({front, value.block, value.part});
    bool is_new = false;
    places_.insert(value, id, is_new);
    return id;
  }
  const HeldValues& places() const { return places_; }

 private:
  SlotPlan& plan_;
  HeldValues places_;  // the slot of each value, in the place of its tree
};

}  // namespace

std::vector<SlotPlan> node_plans(NamedSchedule& named, const Goal& goal) {
  const Schedule& all = named.schedule;
  const Rank nodes = all.topology.nodes();
  std::vector<SlotPlan> plans(static_cast<std::size_t>(nodes));
  std::vector<PlanMaker> makers;
  for (Rank node = 0; node < nodes; ++node) {
    SlotPlan& plan = plans[static_cast<std::size_t>(node)];
    plan.moves = all.ranks[static_cast<std::size_t>(node)].moves;
    makers.emplace_back(node, goal.gives(node), named.form, plan);
  }
  std::vector<std::size_t> next_gap(makers.size());
  const std::size_t steps = all.steps();
  StepMatcher<OpRecord> matcher(nodes);
  const auto number = [&](Rank node, const OpRecord& op) {
    return static_cast<std::size_t>(&op - all.ranks[static_cast<std::size_t>(node)].ops.data());
  };
  for (std::size_t step = 0; step <= steps; ++step) {
    for (std::size_t r = 0; r < makers.size(); ++r) {
      makers[r].begin();
      const RankNames& names = named.names[r];
      std::size_t& next = next_gap[r];
      if (next == names.gaps.size() || names.gaps[next].step != step) continue;
      for (std::size_t i = next == 0 ? 0 : names.gaps[next - 1].end; i < names.gaps[next].end; ++i)
        makers[r].combine(named.words, names.pairs[i]);
      ++next;
    }
    if (step == steps) break;
    // Sends first: what arrives in this step is not sent in it.
    std::map<const OpRecord*, std::size_t> places;
    for (Rank node = 0; node < nodes; ++node) {
      const auto r = static_cast<std::size_t>(node);
      for (const OpRecord& op : all.ops(node, step)) {
        SlotPlan::Message& message = makers[r].message(op);
        places[&op] = plans[r].steps.back().size() - 1;
        if (op.kind == Op::Kind::send) {
          for (const NamedValue& value : named.names[r].of(number(node, op)))
            message.content.push_back(makers[r].held(value));
          matcher.add_send(node, op.peer, op);
        } else {
          matcher.add_receive(op.peer, node, op);
        }
      }
    }
    using End = StepMatcher<OpRecord>::End;
    matcher.match(
        [&](const End& send, const End& receive) {
          const auto to = static_cast<std::size_t>(receive.to);
          SlotPlan::Message& message = plans[to].steps.back()[places.at(receive.record)];
          for (const NamedValue& value :
               named.names[static_cast<std::size_t>(send.from)].of(number(send.from, *send.record)))
            message.content.push_back(makers[to].slot(value, named.words.front(value.word)));
        },
        [](const End&, bool) {});
  }
  for (Rank node = 0; node < nodes; ++node) {
    const auto r = static_cast<std::size_t>(node);
    std::map<std::tuple<WordId, Rank, Rank>, NamedValue> by_set;
    for (Rank block = 0; !goal.barrier && block < goal.ends_with(node); ++block) {
      const Goal::Wanted wanted = goal.result(node, block);
      if (wanted.first == wanted.last) continue;
      const WordId word = named.words.interval(wanted.first, wanted.last);
      for (Rank part = 0; part < named.form.parts; ++part) {
        NamedValue value{word, wanted.block, part};
        if (!makers[r].holds(value)) {
          if (by_set.empty()) by_set = words_by_set(makers[r].places(), named.words);
          value = by_set.at({word, wanted.block, part});
        }
        plans[r].results.push_back({makers[r].held(value), block, part});
      }
    }
  }
  return plans;
}

}  // namespace wormcube
