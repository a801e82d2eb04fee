// Times of calls on a modelled machine, by replay.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/replayed.hpp"

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/parallel.hpp"

#include <exception>
#include <mutex>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

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

void ReplayedTimes::require_affordable(std::string_view what, double messages) const {
  constexpr double most_messages = 1e8;
  if (messages <= most_messages) return;
  throw UsageError(
      fmt::format("{}: the replays would have up to {:.0f} messages (about 100 000 per second); "
                  "the limit is {:.0f}; use a smaller network or fewer sizes, or choose by formula",
                  what, messages, most_messages));
}

CallFigures::Answer ReplayedTimes::figure_of(const Collective& collective, Bytes block_bytes,
                                             bool all_port) {
  try {
    return replayed(record_call(collective, topology(), block_bytes), all_port, no_limit);
  } catch (const UsageError& error) {
    return {{}, error.what()};
  }
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
  struct Waiting {
    const Collective* collective;
    bool all_port;
    std::string key;
    Recorded schedule;
    std::optional<Answer> answer;  // none: it failed, and fails again when it is asked for
  };
  // Schedules do not depend on the ports.
  const auto key_of_schedule = [&](const Waiting& call) {
    return key(*call.collective, block_bytes, false);
  };
  std::vector<Waiting> unknown;
  std::map<std::string, Recorded> recorded;
  for (const Priced& priced : calls) {
    const bool all_port = takes_all_ports(*priced.collective.algorithm, ports);
    Waiting call{
        &priced.collective, all_port, key(priced.collective, block_bytes, all_port), {}, {}};
    if (is_known(call.key)) continue;
    if (const auto kept = recorded_.find(key_of_schedule(call)); kept != recorded_.end())
      call.schedule = kept->second;
    unknown.push_back(std::move(call));
  }
  LowestTimes lowest(needed);
  const auto find = [&](std::size_t i) {
    Waiting& call = unknown[i];
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
    for (Waiting& call : unknown) recorded[key_of_schedule(call)] = std::move(call.schedule);
  } else {
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      find(i);
      unknown[i].schedule.reset();
    }
  }
  recorded_ = std::move(recorded);
  for (Waiting& call : unknown) {
    if (call.answer) keep(std::move(call.key), *std::move(call.answer));
  }
}

}  // namespace wormcube
