// wormcube show --contents: what each message carries, and what each node holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/draw/step.hpp"
#include "wormcube/runtime/dataflow/follow.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace wormcube::cli {

/// What nodes hold, step by step. It keeps a reference to the schedule.
class Contents : public FlowVisitor {
 public:
  explicit Contents(const NamedSchedule& named);

  struct Message {
    Rank from, to;
    std::string values;
  };
  /// Called before each step, and after the last one, with the messages of the step before, by
  /// sender.
  using OnStep = std::function<void(std::size_t next, std::span<const Message> messages)>;
  void each_step(const OnStep& on_step);
  /// What a node holds, while on_step is called, or after all steps. What it neither uses later nor ends with is left
  /// out.
  std::string held(Rank node) const;

  // For follow().
  void combined(std::size_t step, Rank node, const RankNames::Gap& gap,
                std::span<const RankNames::Pair> pairs);
  void begin_messages(std::size_t step);
  void posted(std::size_t step, Rank node, const OpRecord& op, std::span<const NamedValue> values);
  void end_step(std::size_t step);

 private:
  using Key = std::tuple<WordId, Rank, Rank>;
  struct NodeState {
    std::set<Key> held, results;
    std::map<Key, std::size_t> last_use;  // combined before step s: 2 s; sent in it: 2 s + 1
  };
  /// If the operator commutes, the nodes of a combination have no order.
  NamedValue unordered(NamedValue value);
  Key key_of(const NamedValue& value);

  const NamedSchedule& named_;
  Words words_;  // with those of what is combined
  std::vector<NodeState> nodes_;
  std::vector<Message> messages_;
  std::vector<std::pair<Rank, Key>> arrived_;
  bool knows_results_ = false;
  OnStep on_step_;
};

/// What the nodes hold before a step, by rank; sets DrawnMessage::label of the step's messages.
std::vector<std::string> label_step(const NamedSchedule& named, apps::DrawnStep& step);

/// Prints the chosen steps, and adds them to the JSON.
/// \param steps  ascending
/// \param node   alone, with its messages; -1: all
void print_contents(const OutputOptions& output, const NamedSchedule& named,
                    std::span<const Phase> phases, std::span<const std::size_t> steps, Rank node,
                    Json& json);

}  // namespace wormcube::cli
