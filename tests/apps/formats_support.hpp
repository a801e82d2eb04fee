// What the tests of several formats share: texts with random changes, and calls that go into a
// format and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/schedule/check.hpp"

#include <functional>
#include <random>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

namespace wormcube::formats_tests {

/// The text with one to three letters changed, or a few of them left out.
inline std::string with_random_changes(std::string text, std::string_view letters,
                                       std::mt19937& random) {
  for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
    const std::size_t at = random() % text.size();
    if (random() % 4 == 0) {
      text.erase(at, 1 + random() % 8);
    } else {
      text[at] = letters[random() % letters.size()];
    }
  }
  return text;
}

/// The report of a schedule whose nodes may use all ports.
inline ScheduleReport counted(const Schedule& schedule) {
  return check(schedule, Routing(schedule.topology, 2), true);
}

/// Checks that schedules keep their counts.
/// \param there_and_back  writes a schedule in the format, and reads it
inline void require_round_trips(const std::function<Schedule(const Schedule&)>& there_and_back) {
  struct Case {
    Operation operation;
    const char *algorithm, *network;
  };
  for (const Case& each :
       {Case{operations::alltoall, "suh-torus", "torus:4x4"},
        Case{operations::alltoall, "ring", "ring:8"}, Case{operations::alltoall, "bruck", "ring:8"},
        Case{operations::broadcast, "binomial", "mesh:4x4"},
        Case{operations::allgather, "ring", "ring:5"}}) {
    CAPTURE(each.algorithm);
    const Topology topology = Topology::parse(each.network);
    const Collective collective = parse_collective(each.operation, each.algorithm);
    const Schedule schedule = record_call(collective, topology, 64, false);
    const ScheduleReport before = counted(schedule), after = counted(there_and_back(schedule));
    CHECK(before.startups == after.startups);
    CHECK(before.messages == after.messages);
    CHECK(before.transmission == after.transmission);
    CHECK(before.total_bytes == after.total_bytes);
  }
}

}  // namespace wormcube::formats_tests
