// Collectives on the modelled machine.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/modelled.hpp"

#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/progress.hpp"
#include "wormcube/collectives/harness/choose.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/runtime/error.hpp"

#include <fmt/core.h>

namespace wormcube::cli {

Schedule record_call(const Collective& collective, const Topology& topology, Bytes block_bytes,
                     bool in_place) {
  const std::string title = fmt::format("{} {}", collective.operation()->name, collective.text());
  topology.require_routable();
  const Program program = collective_program(
      collective,
      contract_of(collective, topology.nodes(), block_bytes, 1, Pattern::words, in_place), nullptr);
  need_to_record(fmt::format("replay {} on {}", title, topology.name()), topology, program,
                 collective.arguments.root);
  return record(topology, program, title);
}

const ReplayedTimes::Answer& ReplayedTimes::operator()(const Collective& collective,
                                                       Bytes block_bytes, bool all_port) {
  const auto [entry, is_new] = answers_.try_emplace(
      fmt::format("{} {} {} {} {}", collective.operation()->name, collective.text(), block_bytes,
                  all_port, arguments_text(collective.operation(), collective.arguments)));
  Answer& answer = entry->second;
  if (!is_new) return answer;
  MachineModel model = model_;
  model.all_port = all_port;
  try {
    const Schedule schedule = record_call(collective, topology_, block_bytes);
    const Replay result =
        replay(schedule, Routing(topology_, virtual_channels_), model, {.steps = false});
    answer.time = result.time;
    answer.reason = result.deadlock.substr(0, result.deadlock.find('\n'));
  } catch (const UsageError& error) {
    answer.reason = error.what();
  }
  return answer;
}

ReplayedTimes::Quickest ReplayedTimes::quickest(Operation operation, const CostModel& cost,
                                                Bytes block_bytes, Ports ports,
                                                const Arguments& arguments) {
  const auto ranked = ranking(operation, topology_, cost, block_bytes, ports, arguments);
  Quickest best{ranked.empty() ? cheapest(operation, topology_, cost, block_bytes, ports, arguments)
                               : ranked.front().collective,
                {}};
  for (const Priced& priced : ranked) {
    if (!is_chosen_by_auto(*priced.collective.algorithm)) continue;
    const bool all_port = ports == Ports::all || priced.collective.algorithm->ports == Ports::all;
    const Answer& answer = (*this)(priced.collective, block_bytes, all_port);
    if (answer.time && (!best.time || *answer.time < *best.time)) {
      best = {priced.collective, answer.time};
    }
  }
  return best;
}

AutoChooser replaying_chooser(const MachineModel& model, const OutputOptions& output,
                              int virtual_channels) {
  return [=](Operation operation, const Topology& topology, const CostModel& cost,
             Bytes block_bytes, Ports ports, const Arguments& arguments) {
    Progress progress(output, "auto by replay");
    progress.doing(fmt::format("{} on {}", operation->name, topology.name()));
    return ReplayedTimes(topology, model, virtual_channels)
        .quickest(operation, cost, block_bytes, ports, arguments)
        .collective;
  };
}

AutoChooser auto_chooser(const ChoiceOptions& choice, const OutputOptions& output,
                         int virtual_channels) {
  if (!choice.by_replay()) return {};
  return replaying_chooser(choice.resolve().model, output, virtual_channels);
}

}  // namespace wormcube::cli
