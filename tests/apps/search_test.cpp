// The search for what messages of known sizes could carry.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/search.hpp"

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"

#include <string>

#include <catch2/catch.hpp>

namespace wormcube::search_tests {

using Catch::Matchers::Contains;

namespace {

using Answer = apps::Searched::Answer;

apps::Searched search_as(const Schedule& schedule, const char* operation, Bytes block,
                         std::optional<Rank> root = {}) {
  const NamedOperation named{.name = operation, .root = root};
  const Rank nodes = schedule.topology.nodes();
  const ScheduledCall call = scheduled_call(named, nodes);
  return apps::search_contents(schedule, goal_of(call.operation, call.arguments, nodes), named,
                               block);
}
Schedule recorded(Operation operation, const char* algorithm, const char* network) {
  return record_call(parse_collective(operation, algorithm), Topology::parse(network), 8, false);
}

}  // namespace

TEST_CASE("algorithms are found again from their sizes", "[formats]") {
  struct Case {
    Operation operation;
    const char *algorithm, *network;
  };
  for (const Case& each : {Case{operations::allgather, "ring", "ring:5"},
                           Case{operations::allgather, "hypercube", "hypercube:3"},
                           Case{operations::broadcast, "binomial", "ring:8"},
                           Case{operations::alltoall, "shift", "ring:5"},
                           Case{operations::alltoall, "bruck", "ring:8"},
                           Case{operations::gather, "hypercube", "hypercube:3"},
                           Case{operations::scatter, "halving", "ring:8"}}) {
    CAPTURE(each.algorithm, each.network);
    const Schedule schedule = recorded(each.operation, each.algorithm, each.network);
    const auto found = search_as(schedule, std::string(each.operation->name).c_str(), 8);
    CHECK(found.text == "can deliver");
    CHECK(found.answer == Answer::can);
    REQUIRE(found.witness);
    CHECK(found.witness->schedule.steps() == schedule.steps());
  }
}

TEST_CASE("counting finds what cannot be delivered", "[formats]") {
  // One message of a block to each node is missing.
  Schedule ring = recorded(operations::allgather, "ring", "ring:5");
  CHECK(apps::common_block_bytes(ring) == 8);
  for (RankLog& log : ring.ranks) {
    log.ops.resize(log.ops.size() - 2);
    log.step_ends.back() -= 2;
  }
  const auto cannot = search_as(ring, "allgather", 8);
  CHECK(cannot.answer == Answer::cannot);
  CHECK(cannot.text == "cannot: node 0 gets 24 bytes and needs 32");
  CHECK(!cannot.witness);
  // Blocks of another size do not fit.
  CHECK(search_as(recorded(operations::allgather, "ring", "ring:5"), "allgather", 16).text ==
        "cannot: node 0 gets 0 bytes and needs 64");
  // Too late to be sent on: time counts, too.
  CHECK(search_as(recorded(operations::allgather, "ring", "ring:5"), "broadcast", 8, 2).answer ==
        Answer::can);
  Schedule late = recorded(operations::broadcast, "binomial", "ring:8");
  CHECK(search_as(late, "broadcast", 8, 3).answer == Answer::cannot);
}

TEST_CASE("the search says where it gives up", "[formats]") {
  CHECK_THAT(search_as(recorded(operations::allgather, "ring", "ring:5"), "allreduce", 8).text,
             Contains("not decided: allreduce does not only move blocks"));
  CHECK_THAT(search_as(recorded(operations::allgather, "ring", "ring:13"), "allgather", 8).text,
             Contains("not decided: 13 nodes and 156 messages; searched up to 12 and 64"));
}

}  // namespace wormcube::search_tests
