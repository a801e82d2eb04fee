// Drawing a step: every message once, with its route and the load of its links.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/draw.hpp"

#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/text.hpp"
#include "wormcube/tests/schedule/programs.hpp"

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

using namespace wormcube;
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

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t times = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++times;
  return times;
}

}  // namespace

TEST_CASE("a drawn step has every message with route, virtual channels and load",
          "[schedule][draw]") {
  const Schedule schedule = crossing();
  const Routing routing(schedule.topology);
  const DrawnStep step = draw(schedule, routing, 0);
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

TEST_CASE("one node's messages are those it sends and receives; loads stay those of all",
          "[schedule][draw]") {
  const Schedule schedule = crossing();
  const DrawnStep all = draw(schedule, Routing(schedule.topology), 0), two = all.of_node(2);
  REQUIRE(two.messages.size() == 2);
  CHECK(two.messages[1].load == 2);
  CHECK(two.links.size() == all.links.size());
  CHECK(all.of_node(3).messages.size() == 1);
}

TEST_CASE("what is drawn is what the checker counts", "[schedule][draw]") {
  const auto topology = Topology::parse(GENERATE("ring:5", "mesh:3x3", "torus:3x4", "tree:6"));
  const Routing routing(topology);
  const Schedule schedule = record(topology, programs::exchange);
  const ScheduleReport report = check(schedule, routing, false);
  std::size_t messages = 0, hops = 0;
  Bytes link_bytes = 0;
  int busiest = 0;
  for (std::size_t t = 0; t < schedule.steps(); ++t) {
    const DrawnStep step = draw(schedule, routing, t);
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

TEST_CASE("the table shows messages, blocks and links", "[schedule][draw]") {
  const Schedule schedule = crossing();
  const Routing routing(schedule.topology);
  const DrawnStep step = draw(schedule, routing, 0);
  CHECK(draw_table(step, routing, {.block_bytes = 8}) ==
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
  CHECK(draw_table(step, routing, {.links = false}) ==
        "# step 0: 4 messages; busiest link 1->2 carries 2\n"
        "# from  to  bytes  tag  load  moves  route\n"
        "     0   2     24    0     2  0+2    0->1 vc 0, 1->2 vc 0\n"
        "     1   2     12    3     2  -      1->2 vc 0\n"
        "     1   1      4    0     0  -      -\n"
        "     3   0      8    0     1  -      3->0 vc 1\n");
}

TEST_CASE("CSV has one line per message", "[schedule][draw]") {
  const Schedule schedule = crossing();
  const Routing routing(schedule.topology);
  CHECK(draw_csv(draw(schedule, routing, 0), routing, {}) ==
        "step,from,to,bytes,tag,moves,hops,load,route\n"
        "0,0,2,24,0,0+2,2,2,\"0->1 vc 0, 1->2 vc 0\"\n"
        "0,1,2,12,3,,1,2,1->2 vc 0\n"
        "0,1,1,4,0,,0,0,\n"
        "0,3,0,8,0,,1,1,3->0 vc 1\n");
}

TEST_CASE("the graph has every node, every cable, and the busy links in their colour",
          "[schedule][draw]") {
  const Schedule schedule = crossing();
  const Routing routing(schedule.topology);
  const std::string dot = draw_dot(draw(schedule, routing, 0), routing);
  CHECK_THAT(dot, Contains("digraph \"ring:4\""));
  CHECK(count(dot, "pos=") == 4);
  CHECK(count(dot, "color=steelblue") == 2);
  CHECK(count(dot, "color=red") == 1);
  CHECK(count(dot, "dir=none") == 1);  // the cable that is idle both ways
  CHECK_THAT(dot, Contains("\"2\" -> \"3\" [dir=none color=gray85];"));
  CHECK_THAT(dot, Contains("\"1\" -> \"2\" [label=\"0 to 2: 24 B\\n1 to 2: 12 B\" color=red];"));
  const auto tree = Topology::parse("tree:4");
  const Schedule up = record(tree, programs::exchange);
  CHECK_THAT(draw_dot(draw(up, Routing(tree), 0), Routing(tree)), Contains("\"0\" -> \"s0\""));
}

TEST_CASE("the picture has every node and an arrow for every busy link", "[schedule][draw]") {
  const auto topology =
      Topology::parse(GENERATE("ring:5", "mesh:3x4", "torus:4x4", "hypercube:4", "complete:6"));
  const Routing routing(topology);
  const Schedule schedule = record(topology, programs::exchange);
  const DrawnStep step = draw(schedule, routing, 1);
  const std::string svg = draw_svg(step, routing);
  CHECK(count(svg, "<circle") == static_cast<std::size_t>(topology.nodes()));
  CHECK(count(svg, "marker-end") == step.links.size());
  CHECK(count(svg, "<path") == static_cast<std::size_t>(topology.links()) + 2);  // 2 arrow heads
  CHECK_THAT(svg, !Contains("nan") && Contains("</svg>"));
}

TEST_CASE("what cannot be drawn is refused", "[schedule][draw]") {
  const Schedule schedule = crossing();
  const Routing routing(schedule.topology);
  CHECK_THROWS_WITH(draw(schedule, routing, 1), Contains("step 1") && Contains("1 steps"));
  CHECK_THROWS_WITH(draw(schedule, Routing(Topology::parse("ring:5")), 0),
                    Contains("ring:4") && Contains("ring:5"));
  const Routing tree(Topology::parse("tree:4"));
  CHECK_THROWS_WITH(draw_svg({0, {}, {}}, tree), Contains("tree:4") && Contains("--dot"));
  const Routing large(Topology::parse("torus:64x64"));
  CHECK_THROWS_WITH(draw_svg({0, {}, {}}, large), Contains("4096") && Contains("1024"));
  CHECK_THROWS_WITH(draw_dot({0, {}, {}}, large), Contains("4096"));
}
