// GOAL: what is refused, steps, and the way out and back.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/goal.hpp"

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/tests/apps/formats_support.hpp"

#include <random>
#include <string>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

const std::string two_ranks = R"(num_ranks 2
// a comment
rank 0 {
s0: send 1024b to 1 tag 0
j0: calc 512
j0 requires s0
s1: recv 64b from 1 tag 1
s1 requires j0
}

rank 1 {
s0: recv 1024b from 0 tag 0
s1: send 64b to 0 tag 1
s1 requires s0
}
)";

std::string changed_goal(const std::string& old, const std::string& by) {
  std::string text = two_ranks;
  const std::size_t at = text.find(old);
  REQUIRE(at != text.npos);
  return text.replace(at, old.size(), by);
}

void is_refused_goal(const std::string& old, const std::string& by, const std::string& what) {
  CAPTURE(old, by);
  CHECK_THROWS_WITH(apps::parse_goal(changed_goal(old, by), "f.goal"), Contains(what));
}

}  // namespace

TEST_CASE("a GOAL message's step is its depth", "[formats]") {
  CHECK(apps::is_goal(two_ranks));
  const Schedule schedule = apps::parse_goal(two_ranks, "f.goal");
  CHECK(schedule.steps() == 2);
  const ScheduleReport report = formats_tests::counted(schedule);
  CHECK(report.messages == 2);
  CHECK(report.transmission == 1024 + 64);
  CHECK(report.problems.empty());
  CHECK(apps::parse_goal(changed_goal("s1 requires s0", "s1 irequires s0"), "f").steps() == 2);
  const Schedule side_by_side = apps::parse_goal(
      changed_goal("s1 requires j0", "s1 irequires s0").replace(0, 0, ""), "f.goal");
  CHECK(side_by_side.steps() == 2);
}

TEST_CASE("GOAL that cannot be laid into steps is refused with its line", "[formats]") {
  is_refused_goal("recv 64b from 1", "recv 64b from -1", "f.goal:7: from -1: a wildcard");
  is_refused_goal("tag 1\ns1 requires j0", "tag -1\ns1 requires j0", "f.goal:7: tag -1");
  is_refused_goal("calc 512", "calc 512 cpu 1", "f.goal:5: cpu above 0");
  is_refused_goal("send 64b", "send 65b", "rank 0 receives 64 bytes from 1, which sends 65");
  is_refused_goal("s1: send 64b to 0 tag 1\ns1 requires s0\n", "", "which sends none");
  is_refused_goal("s1 requires j0", "s1 requires k0", "f.goal:8: unknown label 'k0'");
  is_refused_goal("j0 requires s0", "j0 requires s0\ns0 requires j0", "a deadlock");
  is_refused_goal("rank 1 {", "rank 2 {", "'rank 1' expected");
  is_refused_goal("to 1 tag 0", "to 2 tag 0", "f.goal:4: rank 2 of 2");
  is_refused_goal("1024b to", "1024 to", "'b' expected");
  CHECK_THROWS_WITH(apps::parse_goal("num_ranks 1000000\n", "f", 1e6), Contains("expected"));
}

TEST_CASE("schedules survive the way into GOAL and back", "[formats]") {
  formats_tests::require_round_trips([](const Schedule& schedule) {
    return apps::parse_goal(apps::goal_text(schedule), "f.goal");
  });
}

TEST_CASE("GOAL with any bytes changed is read or refused", "[formats]") {
  std::mt19937 random(5);  // NOLINT: the same texts in every run
  const std::string letters = "0123456789 \n:{}bsrjtofmaglceqnduk-/*";
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = formats_tests::with_random_changes(two_ranks, letters, random);
    try {
      static_cast<void>(formats_tests::counted(apps::parse_goal(text, "f.goal", 1 << 20)));
      ++accepted;
    } catch (const UsageError&) {
    }
  }
  CHECK(accepted > 50);
  CHECK(accepted < 3950);
}
