// Gives each value of a schedule a place on each node that holds it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/schedule_plan.hpp"

#include "wormcube/runtime/dataflow/follow.hpp"
#include "wormcube/runtime/dataflow/held_values.hpp"

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
        {op.kind == Op::Kind::send, op.peer, op.tag, op.first_move, op.moves, op.bytes, 0, {}});
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

/// Makes the plans of all nodes.
struct PlanVisitor : FlowVisitor {
  PlanVisitor(const NamedSchedule& named, const Goal& goal, std::vector<SlotPlan>& all_plans)
      : schedule(named.schedule), words(named.words), plans(all_plans) {
    for (Rank node = 0; node < schedule.topology.nodes(); ++node) {
      SlotPlan& plan = plans[static_cast<std::size_t>(node)];
      plan.moves = schedule.ranks[static_cast<std::size_t>(node)].moves;
      makers.emplace_back(node, goal.gives(node), named.form, plan);
    }
  }
  void begin_step(std::size_t) {
    for (PlanMaker& maker : makers) maker.begin();
  }
  void combined(std::size_t, Rank node, const RankNames::Gap&,
                std::span<const RankNames::Pair> pairs) {
    for (const RankNames::Pair& pair : pairs)
      makers[static_cast<std::size_t>(node)].combine(words, pair);
  }
  void posted(std::size_t, Rank node, const OpRecord& op, std::span<const NamedValue> values) {
    PlanMaker& maker = makers[static_cast<std::size_t>(node)];
    SlotPlan::Message& message = maker.message(op);
    for (const NamedValue& value : values) message.content.push_back(maker.held(value));
  }
  void message(std::size_t step, const FlowEnd& send, const FlowEnd* receive,
               std::span<const NamedValue> values) {
    PlanMaker& maker = makers[static_cast<std::size_t>(send.to)];
    SlotPlan::Message& message = planned(step, send.to, *receive->record);
    for (const NamedValue& value : values)
      message.content.push_back(maker.slot(value, words.front(value.word)));
    message.partner = place(step, send.from, *send.record);
  }

  /// The number of a send or a receive in its step.
  std::uint32_t place(std::size_t step, Rank node, const OpRecord& op) const {
    return static_cast<std::uint32_t>(&op - schedule.ops(node, step).data());
  }
  SlotPlan::Message& planned(std::size_t step, Rank node, const OpRecord& op) {
    return plans[static_cast<std::size_t>(node)].steps[step][place(step, node, op)];
  }

  const Schedule& schedule;
  Words words;  // with those of what is combined
  std::vector<SlotPlan>& plans;
  std::vector<PlanMaker> makers;
};

}  // namespace

std::vector<SlotPlan> node_plans(const NamedSchedule& named, const Goal& goal) {
  const Rank nodes = named.schedule.topology.nodes();
  std::vector<SlotPlan> plans(static_cast<std::size_t>(nodes));
  PlanVisitor visitor(named, goal, plans);
  follow(named, visitor);
  std::vector<PlanMaker>& makers = visitor.makers;
  Words& words = visitor.words;
  for (Rank node = 0; node < nodes; ++node) {
    const auto r = static_cast<std::size_t>(node);
    std::map<std::tuple<WordId, Rank, Rank>, NamedValue> by_set;
    for (Rank block = 0; !goal.barrier && block < goal.ends_with(node); ++block) {
      const Goal::Wanted wanted = goal.result(node, block);
      if (wanted.first == wanted.last) continue;
      const WordId word = words.interval(wanted.first, wanted.last);
      for (Rank part = 0; part < named.form.parts; ++part) {
        NamedValue value{word, wanted.block, part};
        if (!makers[r].holds(value)) {
          if (by_set.empty()) by_set = words_by_set(makers[r].places(), words);
          value = by_set.at({word, wanted.block, part});
        }
        plans[r].results.push_back({makers[r].held(value), block, part});
      }
    }
  }
  return plans;
}

}  // namespace wormcube
