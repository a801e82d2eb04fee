// The limit of dry runs: a time that every step checks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/dry_run_limit.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <atomic>
#include <limits>

#include <fmt/core.h>

namespace wormcube {

namespace {

using LimitClock = std::chrono::steady_clock;

constexpr LimitClock::rep no_end = std::numeric_limits<LimitClock::rep>::max();
// Relaxed: a step that sees a change late ends a step later.
std::atomic<LimitClock::rep> limit_end{no_end};
std::atomic<std::chrono::milliseconds::rep> limit_ms{0};

}  // namespace

DryRunLimit::DryRunLimit(std::chrono::milliseconds limit)
    : outer_end_(limit_end), outer_ms_(limit_ms) {
  if (limit.count() <= 0) return;
  const LimitClock::rep end = (LimitClock::now() + limit).time_since_epoch().count();
  if (end >= outer_end_) return;
  limit_ms = limit.count();
  limit_end = end;
}

DryRunLimit::~DryRunLimit() {
  limit_end = outer_end_;
  limit_ms = outer_ms_;
}

void DryRunLimit::require() {
  const LimitClock::rep end = limit_end.load(std::memory_order_relaxed);
  if (end == no_end || LimitClock::now().time_since_epoch().count() < end) return;
  throw TimeLimit(fmt::format("the dry run is not finished after {} ms, the time limit",
                              limit_ms.load(std::memory_order_relaxed)));
}

}  // namespace wormcube
