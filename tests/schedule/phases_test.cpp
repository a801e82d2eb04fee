// The names that programs give their steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/node/together.hpp"
#include "wormcube/runtime/node/views.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

using Phases = std::vector<Phase>;

Phases phases_of(const char* network, const Program& program) {
  return record(Topology::parse(network), program).phases;
}

Phases phases_of_algorithm(const char* operation, const char* algorithm, const char* network) {
  const Topology topology = Topology::parse(network);
  const Collective collective = parse_collective(parse_operation(operation), algorithm);
  const Contract contract = contract_of(collective, topology.nodes(), 8, 1);
  return record(topology, collective_program(collective, contract, nullptr)).phases;
}

}  // namespace

TEST_CASE("a phase lasts from its name to the next one, over all nodes", "[phases]") {
  const Phases named = phases_of("ring:4", [](Node& node) {
    node.step();
    node.phase("first");
    node.idle(node.rank() == 0 ? 1 : 2);  // nodes need not agree
    node.phase("nothing");
    node.phase("second");
    node.idle(3);
    node.phase("first");
    node.step();
  });
  CHECK(named == Phases{{"first", 1, 2}, {"second", 2, 5}, {"first", 5, 6}});
}

TEST_CASE("phases of views and of parts are those of the node", "[phases]") {
  const Phases named = phases_of("torus:3x3", [](Node& node) {
    GridView row = node.along(1);
    row.phase("row");
    row.step();
    GridView column = node.along(0);
    column.phase("column");
    column.step();
  });
  CHECK(named == Phases{{"row", 0, 0}, {"column", 1, 1}});
}

TEST_CASE("programs without names have no phases, schedules are equal without", "[phases]") {
  const Topology ring = Topology::parse("ring:4");
  const Schedule plain = record(ring, [](Node& node) { node.idle(2); });
  const Schedule named = record(ring, [](Node& node) {
    node.phase("a");
    node.idle(2);
  });
  CHECK(plain.phases.empty());
  CHECK(named.phases.size() == 1);
  CHECK(plain == named);
}

TEST_CASE("the algorithms of the papers name their phases", "[phases]") {
  CHECK(phases_of_algorithm("alltoall", "suh-torus", "torus:8x8") ==
        Phases{{"rings of every fourth node", 0, 1}, {"two hops", 2, 3}, {"one hop", 4, 5}});
  CHECK(phases_of_algorithm("alltoall", "kim-a1", "torus:8x8") ==
        Phases{{"split", 0, 1}, {"two hops", 2, 3}, {"one hop", 4, 5}, {"merge", 6, 6}});
  CHECK(phases_of_algorithm("alltoall", "suh-mesh", "mesh:6x4") ==
        Phases{{"rings of every second node, phase 1", 0, 1},
               {"rings of every second node, phase 2", 2, 3},
               {"cells of 2x2, phase 3", 4, 5}});
  CHECK(phases_of_algorithm("alltoall", "suh-mesh:order=overlap", "mesh:4x4x4").front().name ==
        "rings of every second node");
  CHECK(phases_of_algorithm("alltoall", "product", "ring:4*line:3").size() == 2);
  CHECK(phases_of_algorithm("broadcast", "wang-tseng", "torus:5x5").front().name ==
        "a stage of distribution");
  CHECK(phases_of_algorithm("alltoall", "tseng-diagonal", "torus:8x8").size() == 3);
}
