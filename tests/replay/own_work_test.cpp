// Computation that nodes report: recorded, priced, on the critical path.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/replay/own_work.hpp"

#include "wormcube/runtime/node/views.hpp"
#include "wormcube/runtime/replay/analysis.hpp"
#include "wormcube/tests/replay/schedules.hpp"

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::test;

TEST_CASE("computing delays the step that follows, on its node", "[replay]") {
  MachineModel model = unit_model();
  model.startup = 5;
  Schedule schedule = written("line:2", {{{0, 1, 4}}, {{1, 0, 4}}});
  schedule.computed = {{}, {{1, 30, 100}, {2, 7, 0}}};
  const Routing routing(schedule.topology);
  // Left out: sent and received by 10, sent back 5 + 1 + 4 later.
  CHECK(replay(schedule, routing, model).time == 20);
  model.operations = {3, 2};  // 30 operations: 45 ticks; 7: 10.5, rounded up
  const Replay slower = replay(schedule, routing, model);
  CHECK(slower.messages[1].posted == 10 + 45);
  CHECK(slower.steps[1].back() == 10 + 45 + 9);
  CHECK(slower.finish == std::vector<Ticks>{10 + 45 + 10, 10 + 45 + 9 + 11});
  // The longer of operations and memory.
  model.memory = {1, 2};
  CHECK(own_work(schedule, model, 1, 1).compute == 50);
  CHECK(own_work(schedule, model, 1, 2).compute == 11);
  CHECK(own_work(schedule, model, 0, 1).compute == 0);
  const Replay both = replay(schedule, routing, model);
  Ticks computing = 0, all = 0;
  for (const PathPiece& piece : critical_path(schedule, model, both)) {
    if (piece.kind == PathPiece::Kind::compute) computing += piece.to - piece.from;
    CHECK(piece.from == all);
    all = piece.to;
  }
  CHECK(all == both.time);
  CHECK(computing == 50 + 11);
  CHECK(uncontended(schedule, routing, model).time == both.time);
  CHECK(uncontended_time(schedule, routing, model) == both.time);
}

TEST_CASE("a dry run keeps what nodes compute, through views, and adds up a gap", "[replay]") {
  const Topology topology = Topology::parse("mesh:2x2");
  const Schedule schedule = record(topology, [](Node& node) {
    node.computes(10, 1);
    GridView row = node.along(1);
    row.computes(5, 2);
    row.step();
    if (node.rank() == 3) row.computes(1, 0);
  });
  REQUIRE(schedule.computed.size() == 4);
  CHECK(schedule.computed[0] == std::vector<Computed>{{0, 15, 3}});
  CHECK(schedule.computed[3] == std::vector<Computed>{{0, 15, 3}, {1, 1, 0}});
  CHECK(record(topology, [](Node& node) { node.step(); }).computed.empty());
}
