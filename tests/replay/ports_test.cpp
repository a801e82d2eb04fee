// Replays of nodes slower than their links, worked by hand: worms, packets, and a node's bus.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/replay/schedules.hpp"

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::test;

namespace {

using Times = std::vector<Ticks>;

MachineModel slow(Ticks port) {
  MachineModel model = unit_model();
  model.port = port;
  return model;
}
MachineModel in_packets(Ticks port, std::int64_t packet) {
  MachineModel model = slow(port);
  model.forwarding = Forwarding::packets;
  model.packet = packet;
  return model;
}

}  // namespace

TEST_CASE("P1: a worm alone comes and goes at the pace of the ports", "[replay]") {
  MachineModel model = slow(3);
  model.startup = 10;
  model.hop = 2;
  const Outcome r = outcome("line:4", {{{0, 3, 5}}}, model);
  CHECK(r.starts.at({0, 0, 0})[0] == Times{10, 13, 16, 19, 22});
  CHECK(r.starts.at({0, 0, 0})[3] == Times{16, 19, 22, 25, 28});
  CHECK(r.sent() == Times{25});
  CHECK(r.delivered() == Times{31});
  CHECK(model.alone(5, 3) == 31);
}

TEST_CASE("P2: a worm that waits catches up at the pace of the links", "[replay]") {
  const Outcome r = outcome("mesh:2x3", {{{0, 5, 6}, {1, 2, 6}}}, slow(3));
  CHECK(r.starts.at({0, 1, 0}) == std::vector<Times>{{0, 3, 6, 9, 12, 15}, {1, 4, 7, 10, 13, 16}});
  CHECK(r.message(0, 1).delivered == 19);
  CHECK(r.starts.at({0, 0, 0}) == std::vector<Times>{{0, 3, 6, 9, 18, 19},
                                                     {17, 18, 19, 20, 21, 22},
                                                     {18, 19, 20, 21, 22, 23},
                                                     {19, 22, 25, 28, 31, 34}});
  CHECK(r.message(0, 0).sent == 20);
  CHECK(r.message(0, 0).delivered == 37);
}

TEST_CASE("P3: the buffer behind the injection port holds the node back", "[replay]") {
  MachineModel model = slow(3);
  model.slots = 2;
  model.port_slots = 2;
  const Step step{{0, 2, 9}, {1, 2, 4}};
  const Outcome two = outcome("line:3", {step}, model);
  CHECK(two.starts.at({0, 0, 0})[0] == Times{0, 3, 12, 13, 15, 18, 21, 24, 27});
  CHECK(two.starts.at({0, 0, 0})[2].front() == 13);
  CHECK(two.message(0, 0).sent == 30);
  CHECK(two.message(0, 0).delivered == 40);
  model.port_slots = 1;
  const Outcome one = outcome("line:3", {step}, model);
  CHECK(one.starts.at({0, 0, 0})[0] == Times{0, 3, 12, 15, 18, 21, 24, 27, 30});
  CHECK(one.message(0, 0).sent == 33);
  CHECK(one.message(0, 0).delivered == 40);
}

TEST_CASE("P4: two worms for one slow port", "[replay]") {
  const Outcome r = outcome("line:3", {{{0, 1, 3}, {2, 1, 3}}}, slow(2));
  CHECK(r.starts.at({0, 0, 0})[1] == Times{1, 3, 5});
  CHECK(r.starts.at({0, 2, 0})[1] == Times{7, 9, 11});
  CHECK(r.delivered() == Times{7, 13});
}

TEST_CASE("P5: a node's messages one after the other, with all ports at once", "[replay]") {
  MachineModel model = slow(2);
  model.startup = 3;
  const Step step{{1, 0, 4}, {1, 2, 4}};
  const Outcome one = outcome("line:3", {step}, model);
  CHECK(one.sent() == Times{11, 22});
  CHECK(one.delivered() == Times{12, 23});
  model.all_port = true;
  const Outcome all = outcome("line:3", {step}, model);
  CHECK(all.sent() == Times{11, 11});
  CHECK(all.delivered() == Times{12, 12});
}

TEST_CASE("P6: packets of a message alone take what a worm takes", "[replay]") {
  MachineModel model = in_packets(3, 4);
  model.startup = 10;
  model.hop = 2;
  const Outcome r = outcome("line:4", {{{0, 3, 8}}}, model);
  CHECK(r.starts.at({0, 0, 0})[0] == Times{16, 17, 18, 19, 28, 29, 30, 31});
  CHECK(r.starts.at({0, 0, 0})[3] == Times{22, 23, 24, 25, 34, 35, 36, 37});
  CHECK(r.sent() == Times{34});
  CHECK(r.delivered() == Times{40});
  CHECK(r.replay.blocked == 0);
  for (const std::int64_t packet : {1, 3, 8, 100}) {
    model.packet = packet;
    CHECK(outcome("line:4", {{{0, 3, 8}}}, model).delivered() == Times{40});
  }
}

TEST_CASE("P7: packets of two messages take a link in turn, worms do not", "[replay]") {
  const Step step{{0, 2, 6}, {1, 3, 6}};
  const Outcome r = outcome("line:4", {step}, in_packets(2, 2));
  CHECK(r.starts.at({0, 1, 0})[0] == Times{1, 2, 5, 6, 9, 10});
  CHECK(r.starts.at({0, 0, 0})[1] == Times{3, 4, 7, 8, 11, 12});
  CHECK(r.delivered() == Times{15, 14});
  CHECK(outcome("line:4", {step}, slow(2)).delivered() == Times{25, 14});
}

TEST_CASE("P8: the injection ports of a node share its bus", "[replay]") {
  MachineModel model = in_packets(0, 2);
  model.flit = 2;
  model.all_port = true;
  model.node = 1;
  const Step star{{4, 1, 4}, {4, 3, 4}, {4, 5, 4}, {4, 7, 4}};
  CHECK(outcome("mesh:3x3", {star}, model).delivered() == Times{13, 15, 17, 19});
  model.node = 0;
  CHECK(outcome("mesh:3x3", {star}, model).delivered() == Times{9, 9, 9, 9});
}

TEST_CASE("P9: two slow worms share a link without losing a turn", "[replay]") {
  const Outcome r = outcome("ring:4", {{{0, 1, 4}, {3, 1, 4, {{0, 2}}}}}, slow(2));
  CHECK(r.starts.at({0, 0, 0}) == std::vector<Times>{{0, 2, 4, 6}, {1, 3, 5, 7}});
  CHECK(r.starts.at({0, 3, 0})[1] == Times{1, 3, 5, 7});
  CHECK(r.starts.at({0, 3, 0})[2] == Times{9, 11, 13, 15});
  CHECK(r.delivered() == Times{9, 17});
}

TEST_CASE("P10: what is a deadlock of worms is none of packets", "[replay]") {
  const Outcome worms = outcome("ring:4", {half_way(8)}, slow(2), 1);
  CHECK_FALSE(worms.replay.time.has_value());
  CHECK(worms.replay.cycle.size() == 4);
  CHECK(outcome("ring:4", {half_way(8)}, in_packets(2, 2), 1).delivered() == Times{19, 19, 19, 19});
}

TEST_CASE("as fast as its links a port changes nothing, whatever buffer is behind it", "[replay]") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const RandomCase random(seed);
    CAPTURE(seed, random.text());
    const Routing routing(random.schedule.topology, random.virtual_channels);
    const Replay given = replay(random.schedule, routing, random.model);
    MachineModel named = random.model;
    named.port = named.flit;
    named.port_slots = 1 + static_cast<std::int64_t>(seed % 7);
    CHECK(replay(random.schedule, routing, named).messages == given.messages);
  }
}

TEST_CASE("a bus to one port changes nothing", "[replay]") {
  const std::vector<Step> steps{{{0, 2, 6}, {1, 3, 6}}};
  MachineModel model = in_packets(2, 2);
  const auto without = outcome("line:4", steps, model).delivered();
  model.node = 1;
  CHECK(outcome("line:4", steps, model).delivered() == without);
}

TEST_CASE("ports that cannot be are refused", "[replay]") {
  const auto refused = [](const MachineModel& model) {
    CHECK_THROWS_AS(outcome("line:2", {{{0, 1, 4}}}, model), UsageError);
  };
  MachineModel model = slow(2);
  model.flit = 3;  // a port faster than its links
  refused(model);
  model = in_packets(2, 0);
  refused(model);
  model = in_packets(1, 1);
  CHECK_THROWS_WITH(outcome("line:3", {{{0, 2, std::size_t{1} << 28}}}, model),
                    Catch::Matchers::Contains("give larger packets (--packet)"));
}
