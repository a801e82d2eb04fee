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
#include "wormcube/runtime/schedule/parallel.hpp"

#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <queue>
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
  return record_within_limits(fmt::format("replay {} on {}", title, topology.name()), topology,
                              program, collective.arguments.root, title);
}

namespace {

constexpr Ticks no_limit = std::numeric_limits<Ticks>::max();

/// The lowest of the times found so far.
///
/// Threads  any.
class LowestTimes {
 public:
  explicit LowestTimes(std::size_t needed) : needed_(needed) {}
  void add(Ticks time) {
    const std::lock_guard lock(mutex_);
    lowest_.push(time);
    if (lowest_.size() > needed_) lowest_.pop();
  }
  /// The highest of the needed ones: above it, a time is not among them.
  Ticks limit() {
    const std::lock_guard lock(mutex_);
    return lowest_.size() < needed_ ? no_limit : lowest_.top();
  }

 private:
  std::size_t needed_;
  std::mutex mutex_;
  std::priority_queue<Ticks> lowest_;
};

}  // namespace

bool takes_all_ports(const Algorithm& algorithm, Ports ports) {
  return ports == Ports::all || algorithm.ports == Ports::all;
}

std::string CallFigures::key(const Collective& collective, Bytes block_bytes, bool all_port) {
  return fmt::format("{} {} {} {} {}", collective.operation()->name, collective.text(), block_bytes,
                     all_port, arguments_text(collective.operation(), collective.arguments));
}

const CallFigures::Answer& CallFigures::operator()(const Collective& collective, Bytes block_bytes,
                                                   bool all_port) {
  const auto [entry, is_new] = answers_.try_emplace(key(collective, block_bytes, all_port));
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
  if (ranked.empty()) {  // throws
    return {cheapest(operation, topology_, cost, block_bytes, ports, arguments), {}};
  }
  return least(ranked, block_bytes, ports);
}

CallFigures::Least CallFigures::least(std::span<const Priced> ranked, Bytes block_bytes,
                                      Ports ports) {
  Least least{ranked.front().collective, {}};
  require_affordable(fmt::format("auto of {} on {} by replay", least.collective.operation()->name,
                                 topology_.name()),
                     messages_of(ranked, topology_.nodes()));
  std::vector<Priced> candidates(ranked.begin(), ranked.end());
  std::erase_if(candidates, [](const Priced& priced) {
    return !is_chosen_by_auto(*priced.collective.algorithm);
  });
  compute(candidates, block_bytes, ports, 1);
  for (const Priced& priced : candidates) {
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
  for (const Priced& priced : ranked)
    messages += priced.weighed.prediction.startups.value_or(0) * nodes;
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
  return replayed(record_call(collective, topology(), block_bytes), all_port, no_limit);
}

CallFigures::Answer ReplayedTimes::replayed(const Schedule& schedule, bool all_port,
                                            Ticks limit) const {
  MachineModel model = model_;
  model.all_port = all_port;
  const Replay result = replay(schedule, routing_, model, {.steps = false, .limit = limit});
  if (result.stopped) return {{}, "stopped: others take less time"};
  return {result.time, result.deadlock.substr(0, result.deadlock.find('\n'))};
}

void ReplayedTimes::compute(std::span<const Priced> calls, Bytes block_bytes, Ports ports,
                            std::size_t needed) {
  struct Call {
    const Collective* collective;
    bool all_port;
    std::string key;
    Recorded schedule;
    std::optional<Answer> answer;  // none: it failed, and fails again when it is asked for
  };
  // Schedules do not depend on the ports.
  const auto key_of_schedule = [&](const Call& call) {
    return key(*call.collective, block_bytes, false);
  };
  std::vector<Call> unknown;
  std::map<std::string, Recorded> recorded;
  for (const Priced& priced : calls) {
    const bool all_port = takes_all_ports(*priced.collective.algorithm, ports);
    Call call{&priced.collective, all_port, key(priced.collective, block_bytes, all_port), {}, {}};
    if (is_known(call.key)) continue;
    if (const auto kept = recorded_.find(key_of_schedule(call)); kept != recorded_.end())
      call.schedule = kept->second;
    unknown.push_back(std::move(call));
  }
  LowestTimes lowest(needed);
  const auto find = [&](std::size_t i) {
    Call& call = unknown[i];
    try {
      if (call.schedule == nullptr) {
        call.schedule = std::make_shared<const Schedule>(
            record_call(*call.collective, topology(), block_bytes));
      }
      // The first is the formulas' choice, whose time is always needed.
      call.answer = replayed(*call.schedule, call.all_port, i == 0 ? no_limit : lowest.limit());
      if (call.answer->figure) lowest.add(*call.answer->figure);
    } catch (const TimeLimit&) {
      throw;
    } catch (const UsageError& error) {
      call.answer = Answer{{}, error.what()};
    } catch (const std::exception&) {
      // Whoever asks for it gets the exception.
    }
  };
  constexpr double most_messages = 1 << 20;  // of schedules that are in memory at the same time
  if (messages_of(calls, topology().nodes()) <= most_messages) {
    parallel_for_each_index(unknown.size(), find);
    for (Call& call : unknown) recorded[key_of_schedule(call)] = std::move(call.schedule);
  } else {
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      find(i);
      unknown[i].schedule.reset();
    }
  }
  recorded_ = std::move(recorded);
  for (Call& call : unknown) {
    if (call.answer) keep(std::move(call.key), *std::move(call.answer));
  }
}

CallFigures::Answer EmulationWork::figure_of(const Collective& collective, Bytes block_bytes,
                                             bool /*all_port*/) const {
  const bool even = collective.operation()->sizes == Sizes::equal;
  const auto [line, is_new] = lines_.try_emplace(fmt::format(
      "{} {} {} {}", collective.operation()->name, collective.text(),
      arguments_text(collective.operation(), collective.arguments), even ? 0 : block_bytes));
  if (is_new) line->second = work_line(collective, routing_, block_bytes);
  if (!line->second) return {{}, "too long for a dry run, and its source gives no formula"};
  return {static_cast<std::int64_t>(line->second->of(block_bytes)), {}};
}

std::unique_ptr<CallFigures> call_figures(const ChoiceOptions& choice, const Topology& topology,
                                          int virtual_channels) {
  if (choice.by_work()) return std::make_unique<EmulationWork>(topology);
  if (!choice.by_replay()) return nullptr;
  return std::make_unique<ReplayedTimes>(topology, choice.resolve().model, virtual_channels);
}

AutoChooser chooser_by(const Context& context, const std::string& by, const OutputOptions& output,
                       const AutoChooser& choose) {
  return [=, &context](Operation operation, const Topology& topology, const CostModel& cost,
                       Bytes block_bytes, Ports ports, const Arguments& arguments) {
    Progress progress(context, output, "auto by " + by);
    progress.doing(fmt::format("{} on {}", operation->name, topology.name()));
    return choose(operation, topology, cost, block_bytes, ports, arguments);
  };
}

namespace {

template <typename Figures>
AutoChooser chooser_by_least(const Context& context, const std::string& by,
                             const OutputOptions& output, Figures figures_on) {
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
  return chooser_by_least(context, "replay", output, [=](const Topology& topology) {
    return ReplayedTimes(topology, model, virtual_channels);
  });
}

AutoChooser chooser_by_work(const Context& context, const OutputOptions& output) {
  return chooser_by_least(context, "work", output,
                          [](const Topology& topology) { return EmulationWork(topology); });
}

}  // namespace wormcube::cli
