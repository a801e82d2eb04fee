// Lemma 1 and Theorems 1 and 2 of Wang and Tseng.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/wang_tseng_steps.hpp"

#include "wormcube/apps/reproduce/wang_tseng.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

/// n of n x .. x n; nothing for other tori.
std::optional<Rank> side_of(const Topology& topology) {
  const std::vector<Rank> sizes = topology.sizes();
  return std::ranges::all_of(sizes, [&](Rank size) { return size == sizes.front(); })
             ? std::optional(sizes.front())
             : std::nullopt;
}

/// Steps of a broadcast from node N/3, by formula and counted.
void count_steps(BroadcastClaim& claim, const Topology& topology, const CheckOptions& options,
                 Rank count_up_to) {
  Arguments arguments;
  arguments.root = topology.nodes() / 3;
  const Collective collective = parse_collective(operations::broadcast, claim.algorithm, arguments);
  claim.corrected = collective.predict(topology).startups;
  if (topology.nodes() > count_up_to) return;
  CheckOptions checked = options;
  checked.all_port = true;
  const CheckResult result = check_collective(collective, topology, checked);
  claim.counted = static_cast<double>(result.report.startups);
  claim.failures = result.failures;
}

}  // namespace

void require_torus(const Topology& topology) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).shape() == Shape::ring || topology.size(d) == 2) continue;
    throw UsageError(fmt::format("reproduce wang-tseng: {} is not a torus; use torus:5x5 or ring:9",
                                 topology.name()));
  }
}

std::optional<bool> BroadcastClaim::as_printed() const {
  const std::optional<double> found = algorithm.empty() ? corrected : counted;
  if (!printed || !found) return std::nullopt;
  return at_most ? *found <= *printed : *found == *printed;
}

bool BroadcastClaim::passed() const {
  if (!failures.empty()) return false;
  if (!counted || !corrected) return true;
  return at_most ? *counted <= *corrected : *counted == *corrected;
}

std::vector<std::string> theorem_networks() {
  return {"ring:9",        "torus:2x2",         "torus:3x3",       "torus:5x5",
          "torus:25x25",   "torus:49x49",       "torus:7x7x7",     "torus:8x8x8",
          "torus:9x9x9x9", "torus:10x10x10x10", "torus:4x4x4x4x4", "torus:3x3x3x3x3x3"};
}

BroadcastClaims reproduce_theorems(const Topology& topology, const CheckOptions& options,
                                   Rank count_up_to) {
  require_torus(topology);
  const int k = topology.dimensions();
  const std::optional<Rank> n = side_of(topology);
  const bool small = n && *n <= 3 && k >= 2;
  const auto steps_of = [&](double nodes) {
    return static_cast<double>(least_steps(nodes, 2 * k + 1));
  };

  BroadcastClaims result;
  BroadcastClaim bound{
      topology.name(), "Lemma 1", "lower bound", "", "ceil(log_{2k+1} n^k)", {}, {}, {}};
  if (n) bound.printed = steps_of(topology.nodes());
  bound.corrected = lower_bound(operations::broadcast, topology, Ports::all).startups;
  if (bound.as_printed() == false) bound.erratum = "wang-tseng-6";
  result.claims.push_back(bound);

  BroadcastClaim steps{topology.name(),
                       k == 2   ? "sec. 3, Theorem 2"
                       : k == 3 ? "Theorems 1 and 2"
                                : "Theorem 2",
                       "steps",
                       "wang-tseng",
                       "k ceil(log_{2k+1} n) + k - 1",
                       {},
                       {},
                       {}};
  const Collective theirs = parse_collective(operations::broadcast, steps.algorithm);
  if (const auto reason = refusal(theirs, topology)) {
    result.refused.push_back(*reason);
  } else {
    if (n) steps.printed = k * steps_of(*n) + k - 1;
    count_steps(steps, topology, options, count_up_to);
    if (small && steps.as_printed() == false) steps.erratum = "wang-tseng-3";
    BroadcastClaim above{topology.name(),
                         steps.place,
                         "steps above the bound",
                         steps.algorithm,
                         "at most 2(k - 1)",
                         {},
                         {},
                         {},
                         true};
    if (n) above.printed = 2.0 * (k - 1);
    if (bound.corrected) {
      above.corrected = 2.0 * (k - 1);
      if (steps.counted) above.counted = *steps.counted - *bound.corrected;
    }
    result.claims.push_back(std::move(steps));
    // The theorem is about n x .. x n.
    if (n) result.claims.push_back(std::move(above));
  }

  BroadcastClaim plan{topology.name(), "ours", "steps", "plan", "not printed", {}, {}, {}};
  if (!refusal(parse_collective(operations::broadcast, plan.algorithm), topology)) {
    count_steps(plan, topology, options, count_up_to);
    result.claims.push_back(std::move(plan));
  }
  return result;
}

}  // namespace wormcube::apps
