// Counts beside formulas, bounds and claims.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/judge.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/core.h>

namespace wormcube {

namespace {

void compare_formula(CheckResult& result, const char* what, const std::optional<double>& formula,
                     double counted) {
  if (formula && std::abs(*formula - counted) > 1e-6 * std::max(1.0, std::abs(*formula))) {
    result.failures.push_back(
        fmt::format("{}: counted {}, the formula says {}", what, counted, *formula));
  }
}

void compare_formulas(CheckResult& result) {
  const Prediction& predicted = result.predicted;
  compare_formula(result, "start-ups", predicted.startups,
                  static_cast<double>(result.report.startups));
  compare_formula(result, "transmission", predicted.transmission_blocks,
                  result.transmission_blocks);
  compare_formula(result, "rearrangement", predicted.rearranged_blocks, result.rearranged_blocks);
  compare_formula(result, "combined", predicted.combined_blocks, result.combined_blocks);
  compare_formula(result, "with contention", predicted.link_blocks, result.link_blocks);
  compare_formula(result, "working blocks", predicted.working_blocks, result.working_blocks);
  compare_formula(result, "hops", predicted.hops, static_cast<double>(result.report.sum_max_hops));
  compare_formula(result, "link load", predicted.link_load, result.report.link_load_max);
}

/// A count below the lower bound of any algorithm is a failure.
void compare_bounds(CheckResult& result) {
  const LowerBound& bound = result.lower_bound;
  const auto startups = static_cast<double>(result.report.startups);
  const std::string source =
      bound.source.empty() ? std::string() : fmt::format(", {}", bound.source);
  const auto compare = [&](const char* what, double counted, double least, std::string text) {
    if (counted >= least - 1e-6 * std::max(1.0, least)) return;
    result.failures.push_back(
        fmt::format("{}: counted {}, fewer than the bound {}{}", what, counted, text, source));
  };
  if (bound.exact) {
    compare("start-ups", startups, bound.exact->value(), bound.exact->text());
  } else if (bound.startups) {
    compare("start-ups", startups, *bound.startups, fmt::format("{}", *bound.startups));
  }
  if (bound.port_blocks) {
    compare("transmission", result.transmission_blocks, *bound.port_blocks,
            fmt::format("{}", *bound.port_blocks));
  }
  if (bound.transmission_blocks) {
    compare("transmission with contention", result.link_blocks, *bound.transmission_blocks,
            fmt::format("{}", *bound.transmission_blocks));
  }
}

}  // namespace

void judge(CheckResult& result) {
  const ScheduleReport& report = result.report;
  auto& failures = result.failures;
  if (!report.matched())
    failures.push_back(fmt::format("{} sends and receives without a partner", report.unmatched));
  if (report.port_violations > 0)
    failures.push_back(
        fmt::format("a port is used twice in one step ({} times)", report.port_violations));
  const bool broken_claim =
      result.collective.algorithm->contention_free && report.link_load_max > 1;
  if (broken_claim) {
    failures.push_back(fmt::format(
        "a link carries {} messages in one step, but the source claims 1", report.link_load_max));
  }
  if (!report.deadlock_free) failures.push_back("its routes can deadlock: " + report.cycle);
  if (result.delivered == false) failures.push_back("not delivered: " + result.proof);
  if (result.keeps_order == false && result.delivered != false) {
    failures.push_back("with an operator that does not commute, not delivered: " + result.order);
  }
  if (result.same_bits == SameBits::no && result.same_bits_claimed) {
    failures.emplace_back(
        "nodes combine in different orders, so rounded results differ in their last bits");
  }
  if (result.exactly_once == false && result.collective.algorithm->exactly_once) {
    failures.push_back("not exactly once: " + result.arrivals);
  }
  compare_formulas(result);
  compare_bounds(result);
  failures.insert(failures.end(), report.problems.begin(), report.problems.end());
  if (broken_claim)
    failures.insert(failures.end(), report.contention.begin(), report.contention.end());
}

}  // namespace wormcube
