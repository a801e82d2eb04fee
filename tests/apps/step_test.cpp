// Drawing a step: every message once, with its route and the load of its links.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/step.hpp"

#include "wormcube/apps/draw/still.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/text.hpp"
#include "wormcube/tests/schedule/programs.hpp"

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;
using Catch::Matchers::Contains;

namespace {

/// One step on a ring of 4: two messages share link 1->2; one goes the long way by its moves; one
/// stays at home.
Schedule crossing() {
  return parse_schedule(
      "wormcube schedule 1\n"
      "topology ring:4\n"
      "steps 1\n"
      "step 0\n"
      "node 0: send 24 to 2 by 0+2, receive 8 from 3\n"
      "node 1: send 12 to 2 tag 3, receive 4 from 1, send 4 to 1\n"
      "node 2: receive 24 from 0, receive 12 from 1 tag 3\n"
      "node 3: send 8 to 0\n"
      "end\n",
      "x");
}

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t times = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++times;
  return times;
}

}  // namespace

TEST_CASE("a drawn step has every message with route, virtual channels and load", "[draw]") {
  const Schedule schedule = crossing();
  const Routing routing(schedule.topology);
  const DrawnStep step = drawn_step(schedule, routing, 0);
  REQUIRE(step.messages.size() == 4);
  const DrawnMessage& first = step.messages[0];
  CHECK((first.from == 0 && first.to == 2 && first.bytes == 24 && first.load == 2));
  CHECK(moves_text(first.moves) == "0+2");
  CHECK(route_text(routing, first.route) == "0->1 vc 0, 1->2 vc 0");
  CHECK(step.messages[1].tag == 3);
  CHECK(step.messages[2].route.empty());                              // to itself
  CHECK(route_text(routing, step.messages[3].route) == "3->0 vc 1");  // past the dateline
  CHECK(step.messages[3].load == 1);
  REQUIRE(step.links.size() == 3);
  CHECK(step.busiest() == 2);
  const auto shared = std::ranges::max_element(step.links, {}, &LinkLoad::messages);
  CHECK(schedule.topology.link_name(shared->link) == "1->2");
  CHECK(shared->bytes == 36);
}

TEST_CASE("one node's messages are those it sends and receives, loads stay those of all",
          "[draw]") {
  const Schedule schedule = crossing();
  const DrawnStep all = drawn_step(schedule, Routing(schedule.topology), 0), two = all.of_node(2);
  REQUIRE(two.messages.size() == 2);
  CHECK(two.messages[1].load == 2);
  CHECK(two.links.size() == all.links.size());
  CHECK(all.of_node(3).messages.size() == 1);
}

TEST_CASE("what is drawn is what the checker counts", "[draw]") {
  const auto topology = Topology::parse(GENERATE("ring:5", "mesh:3x3", "torus:3x4", "tree:6"));
  const Routing routing(topology);
  const Schedule schedule = record(topology, programs::exchange);
  const ScheduleReport report = check(schedule, routing, false);
  std::size_t messages = 0, hops = 0;
  Bytes link_bytes = 0;
  int busiest = 0;
  for (std::size_t t = 0; t < schedule.steps(); ++t) {
    const DrawnStep step = drawn_step(schedule, routing, t);
    messages += step.messages.size();
    busiest = std::max(busiest, step.busiest());
    for (const DrawnMessage& message : step.messages) hops += message.route.size();
    for (const LinkLoad& link : step.links) link_bytes += link.bytes;
  }
  CHECK(messages == report.messages);
  CHECK(busiest == report.link_load_max);
  CHECK(link_bytes == report.byte_hops);
  CHECK(hops * programs::word_bytes == report.byte_hops);
}

TEST_CASE("the table shows messages, blocks and links", "[draw]") {
  const Schedule schedule = crossing();
  const Routing routing(schedule.topology);
  const DrawnStep step = drawn_step(schedule, routing, 0);
  CHECK(step_table(step, routing, {.block_bytes = 8}) ==
        "# step 0: 4 messages; busiest link 1->2 carries 2\n"
        "# from  to  bytes  blocks  tag  load  moves  route\n"
        "     0   2     24       3    0     2  0+2    0->1 vc 0, 1->2 vc 0\n"
        "     1   2     12     1.5    3     2  -      1->2 vc 0\n"
        "     1   1      4     0.5    0     0  -      -\n"
        "     3   0      8       1    0     1  -      3->0 vc 1\n"
        "# messages  bytes  link\n"
        "         1     24  0->1\n"
        "         2     36  1->2\n"
        "         1      8  3->0\n");
  CHECK(step_table(step, routing, {.links = false}) ==
        "# step 0: 4 messages; busiest link 1->2 carries 2\n"
        "# from  to  bytes  tag  load  moves  route\n"
        "     0   2     24    0     2  0+2    0->1 vc 0, 1->2 vc 0\n"
        "     1   2     12    3     2  -      1->2 vc 0\n"
        "     1   1      4    0     0  -      -\n"
        "     3   0      8    0     1  -      3->0 vc 1\n");
}

TEST_CASE("CSV has one line per message", "[draw]") {
  const Schedule schedule = crossing();
  const Routing routing(schedule.topology);
  CHECK(step_csv(drawn_step(schedule, routing, 0), routing, {}) ==
        "step,from,to,bytes,tag,moves,hops,load,route\n"
        "0,0,2,24,0,0+2,2,2,\"0->1 vc 0, 1->2 vc 0\"\n"
        "0,1,2,12,3,,1,2,1->2 vc 0\n"
        "0,1,1,4,0,,0,0,\n"
        "0,3,0,8,0,,1,1,3->0 vc 1\n");
}

TEST_CASE("the graph has every node, every cable, and the busy links in their colour", "[draw]") {
  const Schedule schedule = crossing();
  const Routing routing(schedule.topology);
  const std::string dot = step_dot(drawn_step(schedule, routing, 0), routing);
  CHECK_THAT(dot, Contains("digraph \"ring:4\""));
  CHECK(occurrences(dot, "pos=") == 4);
  CHECK(occurrences(dot, "color=steelblue") == 2);
  CHECK(occurrences(dot, "color=red") == 1);
  CHECK(occurrences(dot, "dir=none") == 1);  // the cable that is idle both ways
  CHECK_THAT(dot, Contains("\"2\" -> \"3\" [dir=none color=gray85];"));
  CHECK_THAT(dot, Contains("\"1\" -> \"2\" [label=\"0 to 2: 24 B\\n1 to 2: 12 B\" color=red];"));
  const auto tree = Topology::parse("tree:4");
  const Schedule up = record(tree, programs::exchange);
  CHECK_THAT(step_dot(drawn_step(up, Routing(tree), 0), Routing(tree)),
             Contains("\"0\" -> \"s0\""));
}

TEST_CASE("a step as a picture has every node, every worm and the links that several share",
          "[draw]") {
  const Schedule schedule = crossing();
  const Routing routing(schedule.topology);
  const DrawnStep step = drawn_step(schedule, routing, 0);
  const Layout places = layout(routing);
  const std::string svg = svg_text(step_marks(places, routing, step, 24, true), places.corner,
                                   places.size, {.title = "<crossing>"});
  CHECK(occurrences(svg, "data-node=") == 4);
  CHECK(occurrences(svg, "class=\"band\"") == 1);
  CHECK(occurrences(svg, "class=\"load\"") == 1);
  for (const char* const worm : {"data-from=\"0\" data-to=\"2\"", "data-from=\"1\" data-to=\"2\"",
                                 "data-from=\"3\" data-to=\"0\""}) {
    CHECK_THAT(svg, Contains(worm));
  }
  CHECK_THAT(svg, Contains("<title>0 to 2: 24 B, 0-&gt;1 vc 0, 1-&gt;2 vc 0</title>") &&
                      Contains("<title>link 1-&gt;2: 2 messages</title>") &&
                      Contains("&lt;crossing&gt;") && !Contains("nan"));
  // One node's worms among the loads of all.
  const std::string of_three =
      svg_text(step_marks(places, routing, step.of_node(3), 24), places.corner, places.size, {});
  CHECK(occurrences(of_three, "class=\"band\"") == 1);
  CHECK_THAT(of_three, !Contains("data-from=\"1\"") && Contains("data-from=\"3\""));
}

TEST_CASE("what cannot be drawn is refused", "[draw]") {
  const Schedule schedule = crossing();
  const Routing routing(schedule.topology);
  CHECK_THROWS_WITH(drawn_step(schedule, routing, 1), Contains("step 1") && Contains("1 steps"));
  CHECK_THROWS_WITH(drawn_step(schedule, Routing(Topology::parse("ring:5")), 0),
                    Contains("ring:4") && Contains("ring:5"));
  const Routing large(Topology::parse("torus:64x64"));
  CHECK_THROWS_WITH(step_dot({}, large), Contains("4096") && Contains("1024"));
  CHECK_THROWS_WITH(require_dot(Topology::parse("complete:400")),
                    Contains("159600") && Contains("100000"));
}

TEST_CASE("a step has the name that its program gave", "[draw]") {
  const auto topology = Topology::parse("ring:4");
  const Schedule schedule = record(topology, [](Node& node) {
    node.step({});
    node.phase("second");
    node.step({});
  });
  const Routing routing(topology);
  CHECK(drawn_step(schedule, routing, 0).phase.empty());
  const DrawnStep step = drawn_step(schedule, routing, 1);
  CHECK(step.phase == "second");
  CHECK(step.of_node(0).phase == "second");
  CHECK(step_table(step, routing, {}) == "# step 1, second: 0 messages\n");
}
