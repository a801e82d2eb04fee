// wormcube show --contents: what each message carries, and what each node holds.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/show_contents.hpp"

#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace wormcube::cli {

Contents::Contents(const NamedSchedule& named)
    : named_(named), words_(named.words), nodes_(named.schedule.ranks.size()) {
  struct Uses : FlowVisitor {
    explicit Uses(Contents& of) : contents(of) {}
    void use(Rank node, const NamedValue& value, std::size_t time) {
      NodeState& state = contents.nodes_[static_cast<std::size_t>(node)];
      std::size_t& last = state.last_use[contents.key_of(value)];
      last = std::max(last, time);
    }
    Contents& contents;
  };
  struct Sends : Uses {
    using Uses::Uses;
    void message(std::size_t step, const FlowEnd& send, const FlowEnd*,
                 std::span<const NamedValue> values) {
      for (const NamedValue& value : values) use(send.from, value, 2 * step + 1);
    }
  } sends(*this);
  struct Combinations : Uses {
    using Uses::Uses;
    void combined(std::size_t step, Rank node, const RankNames::Gap&,
                  std::span<const RankNames::Pair> pairs) {
      for (const auto& [left, right] : pairs) {
        use(node, left, 2 * step);
        use(node, right, 2 * step);
      }
    }
  } combinations(*this);
  // In held(), sets of equal size with the same first node are in the order of their arrival.
  follow(named, sends);
  follow(named, combinations);
  const Rank p = named.schedule.topology.nodes();
  std::optional<Goal> goal;
  if (named.operation) {
    const ScheduledCall call = scheduled_call(*named.operation, p);
    goal = goal_of(call.operation, call.arguments, p);
  }
  knows_results_ = goal.has_value();
  for (Rank r = 0; r < p; ++r) {
    NodeState& node = nodes_[static_cast<std::size_t>(r)];
    const auto own = static_cast<WordId>(r);
    if (!goal) {  // what it uses first must be its own
      for (const auto& [key, time] : node.last_use) {
        if (std::get<0>(key) == own) node.held.insert(key);
      }
      continue;
    }
    for (Rank part = 0; part < named.form.parts; ++part) {
      for (Rank block = 0; block < goal->gives(r); ++block) node.held.insert({own, block, part});
      for (Rank block = 0; block < goal->ends_with(r); ++block) {
        const Goal::Wanted wanted = goal->result(r, block);
        if (wanted.first == wanted.last) continue;
        node.results.insert({words_.interval(wanted.first, wanted.last), wanted.block, part});
      }
    }
  }
}

NamedValue Contents::unordered(NamedValue value) {
  if (named_.commutative) value.word = words_.sorted(value.word);
  return value;
}

Contents::Key Contents::key_of(const NamedValue& value) {
  const NamedValue that = unordered(value);
  return {that.word, that.block, that.part};
}

void Contents::combined(std::size_t, Rank node, const RankNames::Gap&,
                        std::span<const RankNames::Pair> pairs) {
  for (const auto& [left, right] : pairs) {
    nodes_[static_cast<std::size_t>(node)].held.insert(
        key_of({words_.join(left.word, right.word), left.block, left.part}));
  }
}

void Contents::begin_messages(std::size_t step) {
  for (NodeState& node : nodes_) {
    std::erase_if(node.held, [&](const Key& key) {
      const auto last = node.last_use.find(key);
      const bool is_used = last != node.last_use.end() ? last->second > 2 * step : !knows_results_;
      return !is_used && !node.results.contains(key);
    });
  }
  on_step_(step, messages_);
  messages_.clear();
}

void Contents::posted(std::size_t, Rank node, const OpRecord& op,
                      std::span<const NamedValue> values) {
  if (op.kind != Op::Kind::send) return;
  std::vector<NamedValue> carried;
  for (const NamedValue& value : values) {
    carried.push_back(unordered(value));
    arrived_.emplace_back(op.peer, key_of(value));
  }
  messages_.push_back({node, op.peer, names_text(words_, named_.form, carried)});
}

void Contents::end_step(std::size_t) {
  for (const auto& [rank, key] : arrived_) nodes_[static_cast<std::size_t>(rank)].held.insert(key);
  arrived_.clear();
}

void Contents::each_step(const OnStep& on_step) {
  on_step_ = on_step;
  follow(named_, *this);
}

std::string Contents::held(Rank rank) const {
  std::vector<NamedValue> values;
  for (const auto& [word, block, part] : nodes_[static_cast<std::size_t>(rank)].held) {
    values.push_back({word, block, part});
  }
  std::ranges::sort(values, {}, [&](const NamedValue& value) {
    return std::tuple(words_.front(value.word), words_.size(value.word), value.word, value.block,
                      value.part);
  });
  return names_text(words_, named_.form, values);
}

std::vector<std::string> label_step(const NamedSchedule& named, apps::DrawnStep& step) {
  Contents contents(named);
  std::vector<std::string> held;
  contents.each_step([&](std::size_t next, std::span<const Contents::Message> messages) {
    for (Rank r = 0; next == step.step && r < named.schedule.topology.nodes(); ++r)
      held.push_back(contents.held(r));
    if (next != step.step + 1) return;
    // Both lists are by sender, then in the order posted.
    for (std::size_t i = 0; i < std::min(messages.size(), step.messages.size()); ++i)
      step.messages[i].label = messages[i].values;
  });
  return held;
}

void print_contents(const OutputOptions& output, const NamedSchedule& named,
                    std::span<const Phase> phases, std::span<const std::size_t> steps, Rank node,
                    Json& json) {
  const Rank nodes = named.schedule.topology.nodes();
  json["topology"] = named.schedule.topology.name();
  json["nodes"] = nodes;
  json["steps_in_all"] = named.schedule.steps();
  put(json, "node", node < 0 ? Json(nullptr) : Json(node), "all nodes are shown");
  Contents contents(named);
  const auto phase_of = [&](std::size_t step) -> std::string {
    for (const Phase& phase : phases) {
      if (phase.first <= step && step <= phase.last) return ": " + std::string(phase.name);
    }
    return "";
  };
  const auto line = [&](const std::string& what, const std::string& values) {
    if (!output.text()) return;
    const std::string start = fmt::format("  {:<12} ", what);
    print(filled(values, start, std::string(start.size(), ' ')));
  };
  const auto held = [&] {
    Json all = Json::array();
    for (Rank r = 0; r < nodes; ++r) {
      if (node >= 0 && r != node) continue;
      const std::string values = contents.held(r);
      line(fmt::format("node {}", r), values.empty() ? "nothing" : values);
      all.push_back({{"node", r}, {"holds", values}});
    }
    return all;
  };
  Json list = Json::array();
  contents.each_step([&](std::size_t next, std::span<const Contents::Message> messages) {
    if (next == 0) {
      if (output.text()) print("# at the start\n");
      json["start"] = held();
    }
    if (next == 0 || !std::ranges::binary_search(steps, next - 1)) return;
    const std::size_t step = next - 1;
    if (output.text()) print(fmt::format("# step {}{}\n", step, phase_of(step)));
    Json all = Json::array();
    for (const Contents::Message& message : messages) {
      if (node >= 0 && message.from != node && message.to != node) continue;
      line(fmt::format("{} -> {}", message.from, message.to), message.values);
      all.push_back({{"from", message.from}, {"to", message.to}, {"carries", message.values}});
    }
    if (output.text()) print(fmt::format("# after step {}\n", step));
    list.push_back({{"step", step}, {"messages", std::move(all)}, {"nodes", held()}});
  });
  json["steps"] = std::move(list);
}

}  // namespace wormcube::cli
