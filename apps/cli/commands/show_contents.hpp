// wormcube show --contents: what each message carries, and what each node holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/draw/step.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/dataflow/named.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace wormcube::cli {

/// Walks through a schedule with names, step by step.
class Contents {
 public:
  /// \param call  what the schedule performs: its results are held to the end; nothing: unknown
  Contents(NamedSchedule named, const std::optional<ScheduledCall>& call);

  std::size_t steps() const { return steps_; }
  /// What a node holds now: before the first step, or after the last one that advance() has made.
  /// What it neither uses later nor ends with is left out.
  std::string held(Rank node) const;
  struct Message {
    Rank from, to;
    std::string values;
  };
  /// The messages of the next step, by sender; then makes it.
  std::vector<Message> advance();

 private:
  using Key = std::tuple<WordId, Rank, Rank>;
  struct NodeState {
    std::set<Key> held, results;
    std::map<Key, std::size_t> last_use;  // gap s: 2 s; step s: 2 s + 1
    std::size_t gap = 0;                  // the next of its gaps
  };
  /// If the operator commutes, the nodes of a combination have no order.
  NamedValue unordered(NamedValue value);
  Key key_of(const NamedValue& value);
  void combine(Rank node, std::size_t step);
  void drop(std::size_t time);

  NamedSchedule named_;
  std::vector<NodeState> nodes_;
  std::size_t steps_, next_ = 0;
  bool knows_results_ = false;
};

/// What the nodes hold before a step, by rank; sets DrawnMessage::label of the step's messages.
std::vector<std::string> label_step(NamedSchedule named, apps::DrawnStep& step);

/// Prints the chosen steps, and adds them to the JSON.
/// \param steps  ascending
/// \param node   alone, with its messages; -1: all
void print_contents(const OutputOptions& output, NamedSchedule named, std::span<const Phase> phases,
                    std::span<const std::size_t> steps, Rank node, Json& json);

}  // namespace wormcube::cli
