// Small programs on what the machine's threads share, each explored in all its
// executions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/tests/interleavings/explorer.hpp"

#include <vector>

namespace interleavings {

struct Scenario {
  const char* name;
  bool wide;  ///< takes more than a second or two
  Bounds bounds;
  Report (*of)(const Bounds& bounds, const Weakened* weakened);

  Report explore(const Weakened* weakened = nullptr) const { return of(bounds, weakened); }
};
/// On one class each, and what it is used with.
std::vector<Scenario> reservation_scenarios();
std::vector<Scenario> inbox_scenarios();
std::vector<Scenario> gate_scenarios();
std::vector<Scenario> completion_scenarios();
std::vector<Scenario> node_threads_scenarios();
std::vector<Scenario> work_list_scenarios();
std::vector<Scenario> work_place_scenarios();
std::vector<Scenario> lazy_table_scenarios();
std::vector<Scenario> router_turns_scenarios();
std::vector<Scenario> passing_scenarios();
/// Not among all: it must fail.
Scenario passing_without_its_rule();
/// All.
const std::vector<Scenario>& scenarios();

}  // namespace interleavings
