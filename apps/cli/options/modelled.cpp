// Choosing algorithms by replay or by work.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/modelled.hpp"

#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/collectives/harness/choose.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/collectives/harness/work.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <utility>
#include <vector>

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

bool takes_all_ports(const Algorithm& algorithm, Ports ports) {
  return ports == Ports::all || algorithm.ports == Ports::all;
}

const CallFigures::Answer& CallFigures::operator()(const Collective& collective, Bytes block_bytes,
                                                   bool all_port) {
  const auto [entry, is_new] = answers_.try_emplace(
      fmt::format("{} {} {} {} {}", collective.operation()->name, collective.text(), block_bytes,
                  all_port, arguments_text(collective.operation(), collective.arguments)));
  Answer& answer = entry->second;
  if (!is_new) return answer;
  try {
    answer = figure_of(collective, block_bytes, all_port);
  } catch (const UsageError& error) {
    answer.reason = error.what();
  }
  return answer;
}

CallFigures::Least CallFigures::least(Operation operation, const CostModel& cost, Bytes block_bytes,
                                      Ports ports, const Arguments& arguments) {
  const auto ranked = ranking(operation, topology_, cost, block_bytes, ports, arguments);
  Least least{ranked.empty() ? cheapest(operation, topology_, cost, block_bytes, ports, arguments)
                             : ranked.front().collective,
              {}};
  require_affordable(fmt::format("auto of {} on {} by replay", operation->name, topology_.name()),
                     messages_of(ranked, topology_.nodes()));
  for (const Priced& priced : ranked) {
    if (!is_chosen_by_auto(*priced.collective.algorithm)) continue;
    const bool all_port = takes_all_ports(*priced.collective.algorithm, ports);
    const Answer& answer = (*this)(priced.collective, block_bytes, all_port);
    if (answer.figure && (!least.figure || *answer.figure < *least.figure)) {
      least = {priced.collective, answer.figure};
    }
  }
  return least;
}

double messages_of(std::span<const Priced> ranked, Rank nodes) {
  double messages = 0;
  for (const Priced& priced : ranked) messages += priced.prediction.startups.value_or(0) * nodes;
  return messages;
}

void ReplayedTimes::require_affordable(std::string_view what, double messages) const {
  constexpr double most_messages = 1e8;
  if (messages <= most_messages) return;
  throw UsageError(
      fmt::format("{}: the replays would have up to {:.0f} messages (about 100 000 per second); "
                  "the limit is {:.0f}; use a smaller network or fewer sizes, or choose by formula",
                  what, messages, most_messages));
}

CallFigures::Answer ReplayedTimes::figure_of(const Collective& collective, Bytes block_bytes,
                                             bool all_port) const {
  const Schedule schedule = record_call(collective, topology(), block_bytes);
  MachineModel model = model_;
  model.all_port = all_port;
  const Replay result = replay(schedule, routing_, model, {.steps = false});
  return {result.time, result.deadlock.substr(0, result.deadlock.find('\n'))};
}

CallFigures::Answer EmulationWork::figure_of(const Collective& collective, Bytes block_bytes,
                                             bool /*all_port*/) const {
  const auto [line, is_new] =
      lines_.try_emplace(fmt::format("{} {} {}", collective.operation()->name, collective.text(),
                                     arguments_text(collective.operation(), collective.arguments)));
  if (is_new) line->second = work_line(collective, routing_);
  if (!line->second) return {{}, "too long for a dry run, and its source gives no formula"};
  return {static_cast<std::int64_t>(line->second->of(block_bytes)), {}};
}

std::unique_ptr<CallFigures> call_figures(const ChoiceOptions& choice, const Topology& topology,
                                          int virtual_channels) {
  if (choice.by_work()) return std::make_unique<EmulationWork>(topology);
  if (!choice.by_replay()) return nullptr;
  return std::make_unique<ReplayedTimes>(topology, choice.resolve().model, virtual_channels);
}

namespace {

/// Shows the choice in progress.
AutoChooser chooser_by(const Context& context, const std::string& by, const OutputOptions& output,
                       AutoChooser choose) {
  return [=, &context](Operation operation, const Topology& topology, const CostModel& cost,
                       Bytes block_bytes, Ports ports, const Arguments& arguments) {
    Progress progress(context, output, "auto by " + by);
    progress.doing(fmt::format("{} on {}", operation->name, topology.name()));
    return choose(operation, topology, cost, block_bytes, ports, arguments);
  };
}

template <typename Figures>
AutoChooser chooser_by(const Context& context, const std::string& by, const OutputOptions& output,
                       Figures figures_on) {
  return chooser_by(
      context, by, output,
      AutoChooser([=](Operation operation, const Topology& topology, const CostModel& cost,
                      Bytes block_bytes, Ports ports, const Arguments& arguments) {
        return figures_on(topology)
            .least(operation, cost, block_bytes, ports, arguments)
            .collective;
      }));
}

}  // namespace

AutoChooser replaying_chooser(const Context& context, const MachineModel& model,
                              const OutputOptions& output, int virtual_channels) {
  return chooser_by(context, "replay", output, [=](const Topology& topology) {
    return ReplayedTimes(topology, model, virtual_channels);
  });
}

AutoChooser chooser_by_work(const Context& context, const OutputOptions& output) {
  return chooser_by(context, "work", output,
                    [](const Topology& topology) { return EmulationWork(topology); });
}

AutoChooser chooser_by_formula(const Context& context, const OutputOptions& output) {
  return chooser_by(context, "formula", output, AutoChooser(cheapest));
}

AutoChooser auto_chooser(const Context& context, const ChoiceOptions& choice,
                         const OutputOptions& output, int virtual_channels) {
  if (choice.by_work()) return chooser_by_work(context, output);
  if (!choice.by_replay()) return chooser_by_formula(context, output);
  return replaying_chooser(context, choice.resolve().model, output, virtual_channels);
}

}  // namespace wormcube::cli
