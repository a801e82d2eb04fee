// Choosing an exchange, and the figures that an application reports.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/exchange.hpp"

#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/apps/support.hpp"
#include "wormcube/tests/collectives/built_in.hpp"

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;
using namespace wormcube::apps::testing;
using Catch::Matchers::Contains;
using namespace std::chrono_literals;

TEST_CASE("an exchange is found by name, first among alltoall, then among alltoallv", "[apps]") {
  const auto algorithm_of = [](std::string_view text) {
    return find_exchange(text).collective.algorithm;
  };
  CHECK(algorithm_of("auto") == nullptr);
  CHECK(algorithm_of("shift") == &find_algorithm(operations::alltoall, "shift"));
  for (const Algorithm* algorithm : cases::built_in()) {
    if (algorithm->operation == operations::alltoallv) {
      CHECK(algorithm_of("alltoallv:" + std::string(algorithm->name)) == algorithm);
    } else if (algorithm->operation == operations::alltoall) {
      CHECK(algorithm_of(algorithm->name) == algorithm);
      CHECK(find_exchange(algorithm->name).ports == algorithm->ports);
    }
  }
  CHECK(find_exchange("kim-recursive:divisions=2").collective.options.number("divisions") == 2);
  CHECK_THROWS_WITH(find_exchange("kim-recursive:division=2"),
                    Contains("did you mean 'divisions'"));
  CHECK_THROWS_WITH(find_exchange("teleport"), Contains("teleport") && Contains("shift"));
  CHECK_THROWS_AS(find_exchange("alltoallv:teleport"), UsageError);
}

TEST_CASE("resolving chooses the cheapest for the block's size, and refuses what does not run",
          "[apps]") {
  const auto torus = Topology::parse("torus:4x4");
  const Exchange small = resolve(find_exchange("auto"), torus, 16);
  CHECK(small.collective.text() == cheapest({.operation = operations::alltoall,
                                             .topology = torus,
                                             .block_bytes = 16,
                                             .model = small.model})
                                       .text());
  // Dear bytes, dear start-ups: another one.
  const CostModel dear{.startup_us = 1000};
  CHECK(resolve(find_exchange("auto", dear), torus, 1).collective.text() ==
        cheapest(
            {.operation = operations::alltoall, .topology = torus, .block_bytes = 1, .model = dear})
            .text());
  CHECK_THROWS_AS(resolve(find_exchange("hypercube-pairwise"), Topology::parse("ring:3"), 16),
                  UsageError);
  const Algorithm& broadcast = find_algorithm(operations::broadcast, "halving");
  CHECK_THROWS_WITH(resolve({Collective(broadcast)}, torus, 16), Contains("not broadcast halving"));
}

TEST_CASE("figures are the median run's: means over nodes, sums of messages, the busiest link",
          "[apps]") {
  const auto topology = Topology::parse("ring:2");
  int run = 0;
  const Runner runner{
      topology, [&](const Program&) {
        const auto time = std::array{500ms, 9ms, 100ms, 200ms}.at(run++);  // the first warms up
        Statistics statistics{
            .wall = time, .cores = {}, .nodes = {}, .links = {}, .unreceived = {}};
        statistics.cores = {
            .cores = 2, .computing = time / 2, .rearranging = 20ms, .combining = 10ms};
        statistics.nodes.resize(2);
        statistics.nodes[0] = {.messages = 3, .bytes = 30, .peak_bytes = 7};
        statistics.nodes[1] = {.messages = 4, .bytes = 50, .peak_bytes = 9};
        statistics.links = {{.link = 0, .messages = 5, .bytes = 100, .blocked = 1},
                            {.link = 1, .messages = 2, .bytes = 700, .blocked = 2},
                            {.link = 2, .blocked = 3}};
        return statistics;
      }};
  RunFigures known;
  known.collectives = {UsedCollective(find_exchange("shift").collective, 2)};
  const RunFigures figures = measure(
      runner, {.warmup = 1, .iterations = 3}, [](Node&) {}, std::move(known), [] { return 5ms; });
  CHECK(run == 4);
  CHECK(figures.measured);
  REQUIRE(figures.collectives.size() == 1);
  CHECK(figures.collectives[0].algorithm == "shift");
  CHECK(figures.collectives[0].operation == "alltoall");
  CHECK(figures.collectives[0].calls == 2);
  CHECK(figures.nodes == 2);
  CHECK(figures.wall == 100ms);
  CHECK(figures.host == 10ms);             // of both nodes
  CHECK(figures.cores.computing == 40ms);  // less the host's share
  CHECK(figures.cores.rearranging == 20ms);
  CHECK(figures.cores.combining == 10ms);
  CHECK(figures.messages == 7);
  CHECK(figures.bytes_moved == 80);
  CHECK(figures.peak_bytes == 9);
  CHECK(figures.links_used == 2);
  CHECK(figures.link_messages_max == 5);
  CHECK(figures.link_bytes_max == 700);
  CHECK(figures.blocked == 6);
}

TEST_CASE("an runner without statistics, and a run without a check, leave their figures unmeasured",
          "[apps]") {
  const RunFigures figures = measure(
      proof(Topology::parse("ring:2")), {.check = false}, [](Node& node) { node.step(); }, {},
      [] { return 0ns; });
  CHECK_FALSE(figures.measured);
  CHECK_FALSE(figures.schedule);
}

TEST_CASE("an application that needs more memory than there is is refused with both figures",
          "[apps]") {
  const Runner runner = proof(Topology::parse("ring:2"));
  const Program program = [](Node& node) {
    const Memory memory = node.memory(1000);
    node.step();
  };
  CHECK_NOTHROW(require_memory_to_run("nothing", runner, 0, program));
  CHECK_THROWS_WITH(require_memory_to_run("transpose", runner, 1e18, program),
                    Contains("transpose needs 888 PiB") && Contains("is available ("));
}
