// Operations as goals of schedules.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/schedule_goal.hpp"

#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <memory>

#include <fmt/core.h>

namespace wormcube {

ScheduledCall scheduled_call(const NamedOperation& named, Rank nodes) {
  ScheduledCall call{parse_operation(named.name), {}};
  const Operation operation = call.operation;
  const auto refuse = [&](bool given, bool is_an_argument, const char* what) {
    if (given && !is_an_argument)
      throw UsageError(fmt::format("operation {} has no {}", operation->name, what));
  };
  refuse(named.root.has_value(), operation->rooted, "root");
  refuse(named.by.has_value(), operation->shifts, "distance: 'by' is for shift");
  refuse(!named.sources.empty(), operation->has_sources, "sources");
  refuse(!named.permutation.empty(), operation->permutes, "permutation");
  call.arguments.root = named.root.value_or(0);
  call.arguments.by = named.by.value_or(1);
  call.arguments.sources = named.sources;
  if (!named.permutation.empty()) {
    call.arguments.permutation = Permutation::parse(named.permutation);
  }
  if (operation->reduces) call.arguments.reduction = interval_reduction();
  require_arguments(operation, nodes, call.arguments);
  return call;
}

NamedOperation named_operation(Operation operation, const Arguments& arguments) {
  NamedOperation named{.name = std::string(operation->name)};
  if (operation->rooted) named.root = arguments.root;
  if (operation->shifts) named.by = arguments.by;
  if (operation->has_sources)
    named.sources = arguments.sources.empty() ? std::vector<Rank>{0} : arguments.sources;
  if (operation->permutes) named.permutation = arguments.permutation.text();
  return named;
}

Goal goal_of(Operation operation, const Arguments& arguments, Rank nodes) {
  struct Kept {
    Arguments arguments;
    Rank nodes;
    Instance instance() const { return {nodes, arguments}; }
  };
  const auto kept = std::make_shared<const Kept>(Kept{arguments, nodes});
  Goal goal;
  goal.gives = [=](Rank rank) { return operation->gives(kept->instance(), rank); };
  goal.ends_with = [=](Rank rank) { return operation->ends_with(kept->instance(), rank); };
  goal.result = [=](Rank rank, Rank block) {
    const Content content = operation->result(kept->instance(), rank, block);
    return Goal::Wanted{content.first, content.last, content.block};
  };
  goal.reduces = operation->reduces;
  goal.barrier = !operation->moves_data;
  for (Rank rank = 0; rank < nodes && !goal.several_blocks; ++rank)
    goal.several_blocks = goal.gives(rank) > 1;
  return goal;
}

OperationFacts operation_facts(const NamedOperation& named, Rank nodes) {
  const ScheduledCall call = scheduled_call(named, nodes);
  const Goal goal = goal_of(call.operation, call.arguments, nodes);
  Rank blocks = 1;
  for (Rank rank = 0; rank < nodes; ++rank) blocks = std::max(blocks, goal.gives(rank));
  return {.blocks = blocks, .several_blocks = goal.several_blocks, .reduces = goal.reduces};
}

}  // namespace wormcube
