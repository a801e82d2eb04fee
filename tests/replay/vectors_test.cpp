// Replays worked by hand: every start of every flit, and whole algorithms in single figures.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/tests/replay/schedules.hpp"

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::test;

namespace {

using Lists = std::vector<std::vector<Ticks>>;

std::vector<Ticks> range(Ticks first, Ticks last) {
  std::vector<Ticks> list;
  for (; first <= last; ++first) list.push_back(first);
  return list;
}

}  // namespace

TEST_CASE("V1: a message alone passes as a worm", "[replay]") {
  MachineModel model = unit_model();
  model.startup = 10;
  model.hop = 2;
  const Outcome r = outcome("line:4", {{{0, 3, 5}}}, model);
  CHECK(r.starts.at({0, 0, 0}) ==
        Lists{range(10, 14), range(12, 16), range(14, 18), range(16, 20)});
  CHECK(r.message(0, 0).sent == 15);
  CHECK(r.message(0, 0).delivered == 21);
  CHECK(r.replay.steps == Lists{{15}, {0}, {0}, {21}});
  CHECK(r.replay.blocked == 0);
}

TEST_CASE("V2: flits of several bytes, a link slower than a tick", "[replay]") {
  MachineModel model = unit_model();
  model.startup = 100;
  model.flit_bytes = 2;
  model.flit = 7;
  model.hop = 3;
  model.credit = 2;
  model.slots = 1;
  const Outcome r = outcome("line:4", {{{0, 3, 5}}}, model);
  CHECK(r.starts.at({0, 0, 0})[0] == std::vector<Ticks>{100, 107, 114});
  CHECK(r.starts.at({0, 0, 0})[3] == std::vector<Ticks>{109, 116, 123});
  CHECK(r.message(0, 0).sent == 121);
  CHECK(r.message(0, 0).delivered == 130);
}

TEST_CASE("V3: one slot is too few for the full rate", "[replay]") {
  MachineModel model = unit_model();
  model.slots = 1;
  CHECK_FALSE(model.full_rate());
  const Outcome r = outcome("line:3", {{{0, 2, 4}}}, model);
  CHECK(r.starts.at({0, 0, 0}) == Lists{{0, 2, 4, 6}, {1, 3, 5, 7}, {2, 4, 6, 8}});
  CHECK(r.message(0, 0).delivered == 9);
  CHECK(r.message(0, 0).shared == 3);
}

TEST_CASE("V4: two worms that cross", "[replay]") {
  const Outcome r = outcome("mesh:2x3", {{{0, 5, 6}, {1, 2, 6}}}, unit_model());
  CHECK(r.starts.at({0, 0, 0}) ==
        Lists{{0, 1, 2, 3, 8, 9}, range(7, 12), range(8, 13), range(9, 14)});
  CHECK(r.message(0, 0).sent == 10);
  CHECK(r.message(0, 0).delivered == 15);
  CHECK(r.message(0, 0).waited == 6);
  CHECK(r.message(0, 0).shared == 0);
  CHECK(r.message(0, 1).sent == 6);
  CHECK(r.message(0, 1).delivered == 7);
  CHECK(r.replay.steps == Lists{{10}, {6}, {7}, {0}, {0}, {15}});
}

TEST_CASE("V5: all nodes of a ring send half way round", "[replay]") {
  const Outcome r = outcome("ring:4", {half_way(4)}, unit_model());
  CHECK(r.starts.at({0, 3, 0}) == Lists{range(0, 3), {1, 3, 5, 7}, {2, 4, 6, 8}});
  CHECK(r.starts.at({0, 2, 0}) == Lists{range(0, 3), range(8, 11), range(9, 12)});
  CHECK(r.starts.at({0, 1, 0}) == Lists{range(0, 3), range(12, 15), range(13, 16)});
  CHECK(r.starts.at({0, 0, 0}) == Lists{{0, 2, 4, 6}, range(16, 19), range(17, 20)});
  CHECK(r.sent() == std::vector<Ticks>{7, 4, 4, 4});
  CHECK(r.delivered() == std::vector<Ticks>{21, 17, 13, 9});
}

TEST_CASE("V6: the same with one virtual channel is a deadlock, with its cycle", "[replay]") {
  const Outcome two = outcome("ring:4", {half_way(8)}, unit_model());
  CHECK(two.delivered() == std::vector<Ticks>{37, 29, 21, 13});
  const Outcome one = outcome("ring:4", {half_way(8)}, unit_model(), 1);
  CHECK_FALSE(one.replay.time.has_value());
  CHECK(one.replay.cycle.size() == 4);
  CHECK_THAT(one.replay.deadlock,
             Catch::Matchers::Contains("4 messages wait; a cycle of 4 channels: ") &&
                 Catch::Matchers::Contains("0 to 2 (step 0) waits for 1->2 since 0.000001 us, held "
                                           "by 1 to 3 (step 0); it holds 0->1"));
  CHECK(one.delivered() == std::vector<Ticks>{no_tick, no_tick, no_tick, no_tick});
}

TEST_CASE("V7: two for one port, with all ports one each", "[replay]") {
  MachineModel model = unit_model();
  const Outcome one = outcome("line:3", {{{0, 1, 3}, {2, 1, 3}}}, model);
  CHECK(one.delivered() == std::vector<Ticks>{4, 7});
  CHECK(one.starts.at({0, 2, 0})[1] == range(4, 6));
  CHECK(one.message(0, 2).waited_port == 3);
  model.all_port = true;
  CHECK(outcome("line:3", {{{0, 1, 3}, {2, 1, 3}}}, model).delivered() == std::vector<Ticks>{4, 4});
}

TEST_CASE("V8: a hot spot", "[replay]") {
  const Outcome r =
      outcome("mesh:3x3", {{{1, 4, 5}, {3, 4, 5}, {5, 4, 5}, {7, 4, 5}}}, unit_model());
  CHECK(r.delivered() == std::vector<Ticks>{6, 11, 16, 21});
  CHECK(r.sent() == std::vector<Ticks>{5, 8, 13, 18});
  CHECK(r.starts.at({0, 3, 0})[0] == std::vector<Ticks>{0, 1, 2, 3, 7});
}

TEST_CASE("V9: a chain of blocked worms, buffers of 4 and of 2", "[replay]") {
  MachineModel model = unit_model();
  const Step chain{{0, 2, 8}, {1, 3, 8}, {2, 4, 8}};
  const Outcome four = outcome("line:5", {chain}, model);
  CHECK(four.starts.at({0, 2, 0}) == Lists{range(0, 7), range(1, 8), range(2, 9)});
  CHECK(four.starts.at({0, 1, 0}) ==
        Lists{{0, 1, 2, 3, 10, 11, 12, 13}, range(9, 16), range(10, 17)});
  CHECK(four.starts.at({0, 0, 0}) ==
        Lists{{0, 1, 2, 3, 18, 19, 20, 21}, range(17, 24), range(18, 25)});
  CHECK(four.sent() == std::vector<Ticks>{22, 14, 8});
  CHECK(four.delivered() == std::vector<Ticks>{26, 18, 10});
  model.slots = 2;
  const Outcome two = outcome("line:5", {chain}, model);
  CHECK(two.starts.at({0, 1, 0})[0] == std::vector<Ticks>{0, 1, 10, 11, 12, 13, 14, 15});
  CHECK(two.starts.at({0, 0, 0})[0] == std::vector<Ticks>{0, 1, 18, 19, 20, 21, 22, 23});
  CHECK(two.sent() == std::vector<Ticks>{24, 16, 8});
  CHECK(two.delivered() == std::vector<Ticks>{26, 18, 10});
}

TEST_CASE("V10: the chain with buffers of one flit", "[replay]") {
  MachineModel model = unit_model();
  model.flit = 2;
  model.slots = 1;
  const Outcome r = outcome("line:5", {{{0, 2, 3}, {1, 3, 3}, {2, 4, 3}}}, model);
  CHECK(r.starts.at({0, 2, 0})[0] == std::vector<Ticks>{0, 2, 4});
  CHECK(r.starts.at({0, 2, 0})[2] == std::vector<Ticks>{2, 4, 6});
  CHECK(r.starts.at({0, 1, 0})[0] == std::vector<Ticks>{0, 7, 9});
  CHECK(r.starts.at({0, 1, 0})[1] == std::vector<Ticks>{6, 8, 10});
  CHECK(r.starts.at({0, 0, 0}) == Lists{{0, 12, 14}, {11, 13, 15}, {12, 14, 16}});
  CHECK(r.delivered() == std::vector<Ticks>{18, 13, 8});
}

TEST_CASE("V11: two channels of a link take turns", "[replay]") {
  const Step step{{0, 1, 4}, {3, 1, 4, {{0, 2}}}};
  const Outcome r = outcome("ring:4", {step}, unit_model());
  CHECK(r.starts.at({0, 0, 0}) == Lists{{0, 2, 4, 6}, {1, 3, 5, 7}});
  CHECK(r.starts.at({0, 3, 0})[1] == std::vector<Ticks>{1, 3, 5, 7});
  CHECK(r.starts.at({0, 3, 0})[2] == range(8, 11));
  CHECK(r.delivered() == std::vector<Ticks>{8, 12});
}

TEST_CASE("V12: a message that is early, and a channel not yet free", "[replay]") {
  MachineModel model = unit_model();
  model.rearrange = {1, 1};
  const Outcome r = outcome("line:2", {{{0, 1, 4}}, {{0, 1, 4}}}, model, 2,
                            {{.step = 0, .node = 1, .moved = 100}});
  CHECK(r.sent() == std::vector<Ticks>{4, 9});
  CHECK(r.delivered() == std::vector<Ticks>{5, 10});
  CHECK(r.message(1, 0).posted == 4);
  CHECK(r.message(1, 0).waited == 1);
  CHECK(r.starts.at({1, 0, 0})[0] == range(5, 8));
  CHECK(r.replay.steps == Lists{{4, 9}, {100, 100}});
}

TEST_CASE("V13: to oneself costs nothing, an empty message is one flit", "[replay]") {
  MachineModel model = unit_model();
  model.startup = 5;
  const Outcome r = outcome("line:2", {{{0, 0, 64}, {0, 1, 0}}}, model);
  REQUIRE(r.replay.messages.size() == 1);
  CHECK(r.replay.messages[0].index == 1);
  CHECK(r.replay.messages[0].sent == 6);
  CHECK(r.replay.messages[0].delivered == 7);
  CHECK(outcome("line:2", {{{0, 0, 64}}}, model).replay.time == 0);
}

TEST_CASE("V14: store and forward", "[replay]") {
  MachineModel model = unit_model();
  model.startup = 10;
  model.forwarding = Forwarding::store_once;
  const Step step{{0, 3, 5}, {1, 2, 5}};
  const Outcome once = outcome("line:4", {step}, model);
  CHECK(once.starts.at({0, 0, 0}) ==
        Lists{range(10, 14), range(16, 20), range(22, 26), range(23, 27)});
  CHECK(once.delivered() == std::vector<Ticks>{28, 16});
  CHECK(once.replay.blocked == 0);
  model.forwarding = Forwarding::store_each;
  const Outcome each = outcome("line:4", {step}, model);
  CHECK(each.starts.at({0, 0, 0}) ==
        Lists{range(10, 14), range(26, 30), range(42, 46), range(43, 47)});
  CHECK(each.delivered() == std::vector<Ticks>{48, 16});
  CHECK(each.replay.blocked == 0);
}

TEST_CASE("V15: start-ups on one port follow each other, on all they overlap", "[replay]") {
  MachineModel model = unit_model();
  model.startup = 3;
  const Step step{{1, 0, 4}, {1, 2, 4}};
  const Outcome one = outcome("line:3", {step}, model);
  CHECK(one.sent() == std::vector<Ticks>{7, 14});
  CHECK(one.delivered() == std::vector<Ticks>{8, 15});
  model.all_port = true;
  const Outcome all = outcome("line:3", {step}, model);
  CHECK(all.sent() == std::vector<Ticks>{7, 7});
  CHECK(all.delivered() == std::vector<Ticks>{8, 8});
}

TEST_CASE("V16: rearranging and combining between steps", "[replay]") {
  MachineModel model = unit_model();
  model.startup = 5;
  model.rearrange = {2, 1};
  model.combine = {3, 1};
  const std::vector<Step> steps{{{0, 1, 4}}, {{1, 0, 4}}};
  const std::vector<LocalWork> work{{.step = 1, .node = 0, .moved = 10},
                                    {.step = 1, .node = 1, .combined = 6}};
  const Outcome r = outcome("line:2", steps, model, 2, work);
  CHECK(r.sent()[0] == 9);
  CHECK(r.message(1, 1).posted == 28);
  CHECK(r.delivered()[1] == 38);
  CHECK(r.replay.steps[0] == std::vector<Ticks>{9, 38});
  model.lock_step = true;
  const Outcome lock = outcome("line:2", steps, model, 2, work);
  CHECK(lock.message(1, 1).posted == 30);
  CHECK(lock.delivered()[1] == 40);
}

TEST_CASE("V17: nodes go on alone, or all together", "[replay]") {
  MachineModel model = unit_model();
  model.startup = 5;
  const std::vector<Step> steps{{{0, 1, 10}, {3, 4, 1}}, {{1, 2, 2}, {3, 4, 1}}};
  const Outcome r = outcome("line:5", steps, model);
  CHECK(r.delivered() == std::vector<Ticks>{16, 7, 24, 13});
  CHECK(r.message(1, 3).posted == 6);
  CHECK(r.replay.time == 24);
  model.lock_step = true;
  const Outcome lock = outcome("line:5", steps, model);
  CHECK(lock.message(1, 3).posted == 16);
  CHECK(lock.delivered() == std::vector<Ticks>{16, 7, 24, 23});
}

TEST_CASE("V18: a tie goes to the lower source", "[replay]") {
  const Outcome r = outcome("mesh:3x3", {{{0, 7, 3}, {2, 4, 3}}}, unit_model());
  CHECK(r.delivered() == std::vector<Ticks>{6, 9});
  CHECK(r.starts.at({0, 2, 0})[1] == range(5, 7));
}

TEST_CASE("V19: flits longer than hop and credit", "[replay]") {
  MachineModel model = unit_model();
  model.flit = 10;
  model.hop = 2;
  model.slots = 1;
  const Outcome r = outcome("line:4", {{{0, 3, 1}, {1, 2, 1}}}, model);
  CHECK(r.starts.at({0, 0, 0}) == Lists{{0}, {10}, {12}, {14}});
  CHECK(r.delivered() == std::vector<Ticks>{24, 12});
  CHECK(r.message(0, 0).waited == 8);
}

TEST_CASE("whole algorithms take the ticks that were counted for them", "[replay]") {
  struct Row {
    Operation operation;
    const char *topology, *algorithm;
    Bytes bytes;
    bool all_port;
    Ticks time;  // no_tick: not given
    std::size_t blocked;
    Ticks lock_step;
    std::size_t lock_blocked;
  };
  const auto row = GENERATE_REF(values<Row>({
      {parse_operation("broadcast"), "ring:8", "halving", 16, false, 85, 0, 85, 0},
      {parse_operation("alltoall"), "ring:5", "shift", 6, false, 101, 8, 124, 10},
      {parse_operation("alltoall"), "torus:4x4", "suh-torus", 8, false, 302, 0, 302, 0},
      {parse_operation("alltoall"), "mesh:4x4", "shift", 8, false, 355, 61, 420, 60},
      {parse_operation("allgather"), "ring:6", "bruck", 8, false, 172, 7, 241, 12},
      {parse_operation("allreduce"), "hypercube:3", "recursive-doubling", 16, false, 81, 0, 81, 0},
      {parse_operation("permute"), "torus:4x4", "direct", 12, false, no_tick, 0, 38, 5},
      {parse_operation("alltoall"), "tree:4", "shift", 5, false, 61, 2, 63, 2},
      {parse_operation("alltoall"), "ring:7", "ring-all-port", 8, true, 81, 0, 81, 0},
      {parse_operation("gather"), "mesh:3x3", "direct", 8, false, 79, 7, 162, 0},
  }));
  CAPTURE(row.topology, row.algorithm);
  MachineModel model = unit_model();
  model.startup = 10;
  model.all_port = row.all_port;
  const Schedule schedule = recorded(row.operation, row.topology, row.algorithm, row.bytes);
  const Routing routing(schedule.topology);
  if (row.time != no_tick) {
    const Replay r = replay(schedule, routing, model);
    CHECK(r.time == row.time);
    CHECK(r.blocked == row.blocked);
  }
  model.lock_step = true;
  const Replay lock = replay(schedule, routing, model);
  CHECK(lock.time == row.lock_step);
  CHECK(lock.blocked == row.lock_blocked);
}

TEST_CASE("worms of neighbouring steps can meet", "[replay]") {
  MachineModel model = unit_model();
  model.startup = 10;
  const Schedule schedule = recorded(parse_operation("alltoall"), "mesh:6x4", "suh-mesh", 8);
  const Routing routing(schedule.topology);
  const Replay r = replay(schedule, routing, model);
  CHECK(r.time == 658);
  CHECK(r.blocked == 48);
  CHECK(r.messages.size() == 120);
  model.lock_step = true;
  CHECK(replay(schedule, routing, model).time == 654);
}
