// The checker's findings in some of the steps: counts, and the first few problems of each kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

inline constexpr std::size_t most_problems = 10;

/// The first few problems of one kind, in whichever order the steps are checked.
class Problems {
 public:
  /// \param words  called only if the problem is to be kept
  template <class Words>
  void add(std::size_t step, Words words) {
    if (list_.size() == most_problems && step >= list_.back().first) return;
    list_.emplace(std::ranges::upper_bound(list_, step, {}, &Problem::first), step, words());
    if (list_.size() > most_problems) list_.pop_back();
  }
  void add(Problems&& other) {
    for (Problem& problem : other.list_)
      add(problem.first, [&] { return std::move(problem.second); });
  }
  void move_to(std::vector<std::string>& texts) {
    for (Problem& problem : list_) {
      if (texts.size() < most_problems) texts.push_back(std::move(problem.second));
    }
  }

 private:
  using Problem = std::pair<std::size_t, std::string>;
  std::vector<Problem> list_;  // by step; of one step in the order found
};

/// The findings in some of the steps, or in all.
class StepFindings {
 public:
  void add(StepFindings& other) {
    const ScheduleReport& o = other.report_;
    report_.startups += o.startups;
    report_.transmission += o.transmission;
    report_.contended += o.contended;
    report_.injected += o.injected;
    report_.rearranged += o.rearranged;
    report_.combined += o.combined;
    report_.messages += o.messages;
    report_.total_bytes += o.total_bytes;
    report_.byte_hops += o.byte_hops;
    report_.sum_max_hops += o.sum_max_hops;
    report_.max_hops = std::max(report_.max_hops, o.max_hops);
    report_.link_load_max = std::max(report_.link_load_max, o.link_load_max);
    report_.port_violations += o.port_violations;
    report_.unmatched += o.unmatched;
    most_ += other.most_;
    unmatched_.add(std::move(other.unmatched_));
    ports_.add(std::move(other.ports_));
    contention_.add(std::move(other.contention_));
  }

  /// Throws UsageError if a sum may have wrapped round.
  void require_countable() const {
    constexpr double limit = 0x1p63;
    if (most_ < limit) return;
    throw UsageError(
        fmt::format("check: the messages have up to {:.3g} bytes on their links together, which 64 "
                    "bits cannot count; use smaller blocks",
                    most_));
  }

  ScheduleReport finish(const Routing& routing, std::span<const Channel> cycle,
                        bool steps_are_acyclic) {
    report_.deadlock_free = cycle.empty();
    report_.deadlock_free_in_lock_step = steps_are_acyclic;
    if (!cycle.empty()) {
      std::string& text = report_.cycle = fmt::format("a cycle of {} channels", cycle.size());
      constexpr std::size_t named = 8;
      for (std::size_t i = 0; i < std::min(cycle.size(), named); ++i) {
        text += (i == 0 ? ": " : ", ") + routing.channel_name(cycle[i]);
      }
      if (cycle.size() > named) text += ", ...";
    }
    unmatched_.move_to(report_.problems);
    ports_.move_to(report_.problems);
    contention_.move_to(report_.contention);
    return std::move(report_);
  }

 protected:
  ScheduleReport report_;
  double most_ = 0;  // no sum of bytes is larger
  Problems unmatched_, ports_, contention_;
};

}  // namespace wormcube
