// All of them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/interleavings/scenarios.hpp"

namespace interleavings {

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> found;
    for (const auto of :
         {reservation_scenarios, inbox_scenarios, gate_scenarios, completion_scenarios,
          node_threads_scenarios, work_list_scenarios, work_place_scenarios, lazy_table_scenarios,
          router_turns_scenarios, passing_scenarios}) {
      for (const Scenario& each : of()) found.push_back(each);
    }
    return found;
  }();
  return all;
}

}  // namespace interleavings
