// wormcube show --contents: what each message carries, and what each node holds.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/show_contents.hpp"

#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/output/table.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace wormcube::cli {

Contents::Contents(NamedSchedule named, const std::optional<ScheduledCall>& call)
    : named_(std::move(named)),
      nodes_(named_.schedule.ranks.size()),
      steps_(named_.schedule.steps()) {
  const Rank p = named_.schedule.topology.nodes();
  std::optional<Goal> goal;
  knows_results_ = call.has_value();
  if (call) goal = goal_of(call->operation, call->arguments, p);
  for (Rank r = 0; r < p; ++r) {
    NodeState& node = nodes_[static_cast<std::size_t>(r)];
    const RankNames& names = named_.names[static_cast<std::size_t>(r)];
    const RankLog& log = named_.schedule.ranks[static_cast<std::size_t>(r)];
    const auto use = [&](const NamedValue& value, std::size_t time) {
      std::size_t& last = node.last_use[key_of(value)];
      last = std::max(last, time);
    };
    std::size_t pair = 0, op = 0;
    for (const RankNames::Gap& gap : names.gaps) {
      for (; pair < gap.end; ++pair) {
        use(names.pairs[pair].left, 2 * gap.step);
        use(names.pairs[pair].right, 2 * gap.step);
      }
    }
    for (std::size_t step = 0; step < log.step_ends.size(); ++step) {
      for (; op < log.step_ends[step]; ++op) {
        if (log.ops[op].kind != Op::Kind::send) continue;
        for (const NamedValue& value : names.of(op)) use(value, 2 * step + 1);
      }
    }
    const auto own = static_cast<WordId>(r);
    if (!goal) {  // what it uses first must be its own
      for (const auto& [key, time] : node.last_use) {
        if (std::get<0>(key) == own) node.held.insert(key);
      }
      continue;
    }
    for (Rank part = 0; part < named_.form.parts; ++part) {
      for (Rank block = 0; block < goal->gives(r); ++block) node.held.insert({own, block, part});
      for (Rank block = 0; block < goal->ends_with(r); ++block) {
        const Goal::Wanted wanted = goal->result(r, block);
        if (wanted.first == wanted.last) continue;
        node.results.insert({named_.words.interval(wanted.first, wanted.last), wanted.block, part});
      }
    }
  }
  for (Rank r = 0; r < p; ++r) combine(r, 0);
  drop(0);
}

NamedValue Contents::unordered(NamedValue value) {
  if (named_.commutative) value.word = named_.words.sorted(value.word);
  return value;
}

Contents::Key Contents::key_of(const NamedValue& value) {
  const NamedValue that = unordered(value);
  return {that.word, that.block, that.part};
}

void Contents::combine(Rank rank, std::size_t step) {
  NodeState& node = nodes_[static_cast<std::size_t>(rank)];
  const RankNames& names = named_.names[static_cast<std::size_t>(rank)];
  for (; node.gap < names.gaps.size() && names.gaps[node.gap].step == step; ++node.gap) {
    const std::size_t begin = node.gap == 0 ? 0 : names.gaps[node.gap - 1].end;
    for (std::size_t i = begin; i < names.gaps[node.gap].end; ++i) {
      const auto& [left, right] = names.pairs[i];
      node.held.insert(key_of({named_.words.join(left.word, right.word), left.block, left.part}));
    }
  }
}

void Contents::drop(std::size_t time) {
  for (NodeState& node : nodes_) {
    std::erase_if(node.held, [&](const Key& key) {
      const auto last = node.last_use.find(key);
      const bool is_used = last != node.last_use.end() ? last->second > time : !knows_results_;
      return !is_used && !node.results.contains(key);
    });
  }
}

std::string Contents::held(Rank rank) const {
  std::vector<NamedValue> values;
  for (const auto& [word, block, part] : nodes_[static_cast<std::size_t>(rank)].held) {
    values.push_back({word, block, part});
  }
  std::ranges::sort(values, {}, [&](const NamedValue& value) {
    return std::tuple(named_.words.front(value.word), named_.words.size(value.word), value.word,
                      value.block, value.part);
  });
  return names_text(named_.words, named_.form, values);
}

std::vector<Contents::Message> Contents::advance() {
  std::vector<Message> messages;
  std::vector<std::pair<Rank, Key>> arrived;
  const Schedule& schedule = named_.schedule;
  for (std::size_t r = 0; r < nodes_.size(); ++r) {
    const RankLog& log = schedule.ranks[r];
    if (next_ >= log.step_ends.size()) continue;
    for (std::size_t op = next_ == 0 ? 0 : log.step_ends[next_ - 1]; op < log.step_ends[next_];
         ++op) {
      const OpRecord& record = log.ops[op];
      if (record.kind != Op::Kind::send) continue;
      const auto rank = static_cast<Rank>(r);
      std::vector<NamedValue> values;
      for (const NamedValue& value : named_.names[r].of(op)) values.push_back(unordered(value));
      messages.push_back({rank, record.peer, names_text(named_.words, named_.form, values)});
      for (const NamedValue& value : values) arrived.emplace_back(record.peer, key_of(value));
    }
  }
  for (const auto& [rank, key] : arrived) nodes_[static_cast<std::size_t>(rank)].held.insert(key);
  ++next_;
  for (std::size_t r = 0; r < nodes_.size(); ++r) combine(static_cast<Rank>(r), next_);
  drop(2 * next_);
  return messages;
}

std::vector<std::string> label_step(NamedSchedule named, apps::DrawnStep& step) {
  const Rank nodes = named.schedule.topology.nodes();
  std::optional<ScheduledCall> call;
  if (named.operation) call = scheduled_call(*named.operation, nodes);
  Contents contents(std::move(named), call);
  for (std::size_t i = 0; i < step.step; ++i) contents.advance();
  std::vector<std::string> held;
  for (Rank r = 0; r < nodes; ++r) held.push_back(contents.held(r));
  // Both lists are by sender, then in the order posted.
  const std::vector<Contents::Message> messages = contents.advance();
  for (std::size_t i = 0; i < std::min(messages.size(), step.messages.size()); ++i) {
    step.messages[i].label = messages[i].values;
  }
  return held;
}

void print_contents(const OutputOptions& output, NamedSchedule named, std::span<const Phase> phases,
                    std::span<const std::size_t> steps, Rank node, Json& json) {
  const Rank nodes = named.schedule.topology.nodes();
  std::optional<ScheduledCall> call;
  if (named.operation) call = scheduled_call(*named.operation, nodes);
  json["topology"] = named.schedule.topology.name();
  json["nodes"] = nodes;
  json["steps_in_all"] = named.schedule.steps();
  put(json, "node", node < 0 ? Json(nullptr) : Json(node), "all nodes are shown");
  Contents contents(std::move(named), call);
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
  if (output.text()) print("# at the start\n");
  json["start"] = held();
  Json& list = json["steps"] = Json::array();
  for (std::size_t step = 0, chosen = 0; step < contents.steps() && chosen < steps.size(); ++step) {
    const std::vector<Contents::Message> messages = contents.advance();
    if (steps[chosen] != step) continue;
    ++chosen;
    if (output.text()) print(fmt::format("# step {}{}\n", step, phase_of(step)));
    Json all = Json::array();
    for (const Contents::Message& message : messages) {
      if (node >= 0 && message.from != node && message.to != node) continue;
      line(fmt::format("{} -> {}", message.from, message.to), message.values);
      all.push_back({{"from", message.from}, {"to", message.to}, {"carries", message.values}});
    }
    if (output.text()) print(fmt::format("# after step {}\n", step));
    list.push_back({{"step", step}, {"messages", std::move(all)}, {"nodes", held()}});
  }
}

}  // namespace wormcube::cli
