// Layouts, packed numbers, stills: the parts of pages and pictures. (Pages: tests/browser.)
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/layout.hpp"
#include "wormcube/apps/draw/marks.hpp"
#include "wormcube/apps/draw/pack.hpp"
#include "wormcube/apps/draw/page.hpp"
#include "wormcube/apps/draw/play.hpp"
#include "wormcube/apps/draw/plot.hpp"
#include "wormcube/apps/draw/still.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;

namespace {

Layout layout_of(const char* network) { return layout(Routing(Topology::parse(network))); }

PlayBlocks blocks_of(const char* operation, const char* algorithm, const char* network) {
  const Topology topology = Topology::parse(network);
  const Operation of = parse_operation(operation);
  Arguments arguments;
  if (of->reduces) arguments.reduction = find_reduction("sum", "double");
  const Collective collective = parse_collective(of, algorithm, arguments);
  const Contract contract = contract_of(collective, topology.nodes(), 1024, 1);
  return follow_blocks(
      collective, record(topology, collective_program(collective, contract, nullptr)), 1, false);
}

}  // namespace

TEST_CASE("base64 is RFC 4648's", "[draw]") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foobar") == "Zm9vYmFy");
}

TEST_CASE("numbers are packed as LEB128, deflated where that is shorter", "[draw]") {
  Packer few;
  few.put(300);
  few.put_signed(-1);
  const Packed packed = few.packed();
  CHECK(packed.encoding == "raw");
  CHECK(packed.count == 2);
  CHECK(packed.data == base64("\xAC\x02\x01"));
  Packer many;
  for (int i = 0; i < 1000; ++i) many.put(7);
  CHECK(many.packed().encoding == "deflate");
  CHECK(many.packed().data.size() < 100);
}

TEST_CASE("text in pages is text", "[draw]") {
  CHECK(escaped("<a href='\"'>&") == "&lt;a href=&#39;&quot;&#39;&gt;&amp;");
  CHECK(json_in_html("\"</script>\"") == "\"\\u003c/script>\"");
}

TEST_CASE("each link has one drawing, nodes lie apart, all inside the picture", "[draw]") {
  for (const char* const network : {"line:5",        "line:40",         "ring:2",
                                    "ring:12",       "ring:40",         "mesh:6x4",
                                    "torus:8x8",     "torus:2x8",       "torus:4x4x4",
                                    "torus:2x3x4x2", "hypercube:1",     "hypercube:2",
                                    "hypercube:3",   "hypercube:4",     "hypercube:6",
                                    "hypercube:9",   "complete:7",      "ghc:4x3",
                                    "tree:8",        "tree:5*tree:2",   "ring:4*line:3*complete:5",
                                    "petersen",      "star:8",          "ccc:3",
                                    "star-graph:4",  "petersen*ring:3", "torus:32x32"}) {
    CAPTURE(network);
    const Topology topology = Topology::parse(network);
    const Layout drawn = layout(Routing(topology));
    REQUIRE(static_cast<std::int64_t>(drawn.lanes.size()) == topology.links());
    std::set<std::pair<double, double>> places;
    for (const Point p : drawn.places) places.insert({std::round(p.x), std::round(p.y)});
    CHECK(places.size() == drawn.places.size());
    std::set<std::pair<std::int32_t, int>> slots;
    int undrawn = 0, outside = 0;
    for (const Lane& lane : drawn.lanes) {
      slots.insert({lane.from, lane.slot});
      undrawn += lane.points.size() < 2 ? 1 : 0;
      for (const Point p : lane.points) {
        outside += p.x < drawn.corner.x || p.y < drawn.corner.y ||
                           p.x > drawn.corner.x + drawn.size.x ||
                           p.y > drawn.corner.y + drawn.size.y
                       ? 1
                       : 0;
      }
    }
    CHECK(undrawn == 0);
    CHECK(outside == 0);
    CHECK(slots.size() == drawn.lanes.size());  // a slot leads one way
  }
}

TEST_CASE("worms drive on the right, and the same command gives the same picture", "[draw]") {
  const Layout line = layout_of("line:2");
  CHECK(line.lanes[0].from == 0);
  CHECK(line.lanes[0].points[0].y > line.places[0].y);  // to the right: below
  CHECK(line.lanes[1].points[0].y < line.places[0].y);
  const Layout one = layout_of("ccc:3"), other = layout_of("ccc:3");
  CHECK(one.places == other.places);
}

TEST_CASE("a stub's number is the link's other end", "[draw]") {
  const Layout torus = layout_of("torus:4x4");
  std::multiset<std::string> numbers;
  for (const Label& label : torus.labels) numbers.insert(label.text);
  CHECK(numbers == std::multiset<std::string>{"0", "0", "1", "2", "3", "3", "4", "7", "8", "11",
                                              "12", "12", "13", "14", "15", "15"});
}

TEST_CASE("networks of too many links have no picture", "[draw]") {
  CHECK_THROWS_WITH(layout_of("complete:400"),
                    "complete:400 has 159600 links, the limit for pictures is 100000; use a "
                    "smaller network of its kind");
}

TEST_CASE("blocks are followed by the names in messages", "[draw]") {
  const PlayBlocks direct = blocks_of("alltoall", "shift", "ring:6");
  CHECK(direct.kind == "moves");
  CHECK(direct.direct);
  CHECK(direct.moved == 30);
  const PlayBlocks combined = blocks_of("alltoall", "suh-torus", "torus:4x4");
  CHECK(combined.kind == "moves");
  CHECK_FALSE(combined.direct);
  CHECK(combined.units == 256);
  const PlayBlocks copies = blocks_of("allgather", "ring", "ring:5");
  CHECK(copies.kind == "copies");
  CHECK(copies.moved == 20);
  CHECK(blocks_of("barrier", "dissemination", "ring:4").kind == "copies");
  CHECK(blocks_of("alltoallv", "two-phase", "complete:7").kind == "moves");
  CHECK(blocks_of("reduce_scatter", "bruck", "ring:4").kind == "intervals");
  CHECK(blocks_of("scan", "hypercube", "ring:8").kind == "intervals");
}

TEST_CASE("what nodes hold grows to the whole result", "[draw]") {
  using Shares = std::vector<double>;
  const PlayBlocks direct = blocks_of("alltoall", "shift", "ring:6");
  REQUIRE(direct.held.size() == 6);  // 5 steps, and the end
  for (std::size_t step = 0; step < 6; ++step) {
    CHECK(direct.held[step] == Shares(6, static_cast<double>(step + 1) / 6));
  }
  const PlayBlocks copies = blocks_of("allgather", "ring", "ring:5");
  for (std::size_t step = 0; step < 5; ++step) {
    CHECK(copies.held[step] == Shares(5, static_cast<double>(step + 1) / 5));
  }
  // The root's block is where it belongs; the others' come one by one, the last one's last.
  const PlayBlocks scattered = blocks_of("scatter", "direct", "ring:3");
  CHECK(scattered.held.front() == Shares{1, 0, 0});
  CHECK(scattered.held.back() == Shares{1, 1, 1});
  // All is the root's: nothing is for the others.
  const PlayBlocks gathered = blocks_of("gather", "direct", "ring:4");
  CHECK(gathered.held.front() == Shares{0.25, -1, -1, -1});
  CHECK(gathered.held.back() == Shares{1, -1, -1, -1});
  // The ranks whose operands are in the fullest partial result.
  CHECK(blocks_of("scan", "hypercube", "ring:4").held ==
        std::vector<Shares>{{0.25, 0.25, 0.25, 0.25}, {0.5, 0.5, 0.5, 0.5}, {1, 1, 1, 1}});
  CHECK(blocks_of("barrier", "dissemination", "ring:4").held ==
        std::vector<Shares>{{0.25, 0.25, 0.25, 0.25}, {0.5, 0.5, 0.5, 0.5}, {1, 1, 1, 1}});
  // As bars of stills, each with its number above. Switches have none, nor has a picture without
  // data.
  const Topology topology = Topology::parse("tree:4");
  const Routing routing(topology);
  const Layout places = layout(routing);
  const DrawnStep idle{.step = 0};
  const Shares half{0.5, 0, -1, 1};
  const auto bars = [](const Marks& marks) {
    std::vector<double> widths;
    for (const Mark& mark : marks) {
      if (mark.data.starts_with(" class=\"held\"")) widths.push_back(mark.size.x);
    }
    return widths;
  };
  const double width = 2 * places.radius - 9;
  CHECK(bars(step_marks(places, routing, idle, 1, false, &half)) == Shares{width / 2, width});
  CHECK(bars(step_marks(places, routing, idle, 1)).empty());
}

TEST_CASE("traffic between groups has every message, works are those of the log", "[draw]") {
  for (const char* const network : {"ring:6", "line:100", "ring:130"}) {
    const Topology topology = Topology::parse(network);
    const Collective bruck = parse_collective(operations::alltoall, "bruck");
    const Schedule schedule = record(
        topology,
        collective_program(bruck, contract_of(bruck, topology.nodes(), 8, 1, Pattern::words, false),
                           nullptr));
    const GroupTraffic traffic = group_traffic(schedule);
    CHECK(traffic.groups <= 64);
    CHECK(traffic.per * traffic.groups >= topology.nodes());
    CHECK(traffic.per * (traffic.groups - 1) < topology.nodes());
    std::uint64_t bytes = 0, messages = 0, sent = 0, sends = 0;
    for (std::size_t i = 0; i < traffic.bytes.size(); ++i) {
      bytes += traffic.bytes[i], messages += traffic.messages[i];
    }
    for (const RankLog& log : schedule.ranks) {
      for (const OpRecord& op : log.ops) {
        if (op.kind == Op::Kind::send) sent += op.bytes, ++sends;
      }
    }
    CHECK(bytes == sent);
    CHECK(messages == sends);
  }
  // Two numbers for each gap of each node; nothing where nobody works.
  const auto works = [](Operation operation, const char* algorithm) {
    const Topology topology = Topology::parse("torus:4x4");
    const Collective collective = parse_collective(operation, algorithm);
    const Schedule schedule =
        record(topology,
               collective_program(
                   collective, contract_of(collective, 16, 8, 1, Pattern::words, false), nullptr));
    return std::pair(pack_works(schedule).count, 2 * (schedule.steps() + 1) * 16);
  };
  const auto [count, all] = works(operations::alltoall, "suh-torus");
  CHECK(count == all);
  CHECK(works(operations::barrier, "dissemination").first == 0);
}

TEST_CASE("marks become SVG", "[draw]") {
  Marks marks{text_mark({1, 2}, "a<b", 10, colours::ink), circle_mark({3, 4}, 2, colours::ok)};
  const std::string svg = svg_text(marks, {0, 0}, {10, 10}, {.title = "t\"t"});
  CHECK(svg.find("a&lt;b") != svg.npos);
  CHECK(svg.find("t&quot;t") != svg.npos);
  const std::string themed = svg_text(marks, {0, 0}, {10, 10}, {.themed = true, .texts = false});
  CHECK(themed.find("var(--ok)") != themed.npos);
  CHECK(themed.find("<text") == themed.npos);
  // Cropped: 4 around the disc from 1 to 5 and the text, whose height is its font's.
  const std::string cropped = cropped_svg(marks, {.texts = false});
  CHECK(cropped.find("viewBox=\"-3 -2 12 12\"") != cropped.npos);
  CHECK(cropped_svg(marks, {}).find("viewBox=\"-3 -10 ") != cropped.npos);
}

TEST_CASE("plots have a point for each value", "[draw]") {
  LinePlot plot;
  plot.title = "t", plot.x_name = "x";
  plot.series = {{"a", {{8, 10, 9, 12}, {16, 20, 18, 22}}, {{8, 7}, {16, 9}}},
                 {"b", {{8, 30}, {16, 15}}, {}}};
  plot.ratio_to = "a";
  const std::string svg = plot_svg(plot, PlotLook::picture);
  std::size_t points = 0;
  for (std::size_t at = svg.find("data-x="); at != svg.npos; at = svg.find("data-x=", at + 1))
    ++points;
  CHECK(points == 4);
  CHECK(svg.find(">t<") != svg.npos);
  CHECK(plot_svg(plot, PlotLook::bare).find(">t<") == svg.npos);
  CHECK(time_label(1500) == "1.5 ms");
  CHECK(size_label(65536) == "64 K");
}

TEST_CASE("a plot of networks has a row for each, a mark for each value, on a logarithmic scale",
          "[draw]") {
  DotPlot plot;
  plot.title = "t", plot.below = "b", plot.x_name = "blocks";
  plot.series = {"start-ups", "<transmission>"};
  plot.rows = {{"first & one", {{1, 1}, {10, 20}}},
               {"second", {{100, {}}, {{}, 50}}},
               {"third", {{0, 0}, {1000, 1000}}}};
  const std::string svg = plot_svg(plot, PlotLook::page);
  struct Seen {
    double x, y;
    bool hollow;
  };
  // First series: discs; those of formulas are hollow and larger.
  std::map<std::string, Seen> counted;
  std::vector<Seen> hollow;
  const std::regex disc(
      "<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\" r=\"([0-9.]+)\"( data-x=\"([^\"]*)\")?");
  for (std::sregex_iterator at(svg.begin(), svg.end(), disc), end; at != end; ++at) {
    const auto& m = *at;
    const Seen seen{std::stod(m[1]), std::stod(m[2]), std::stod(m[3]) > 5};
    if (m[5].matched) counted[m[5]] = seen;
    if (seen.hollow) hollow.push_back(seen);
  }
  REQUIRE(counted.size() == 2);  // 0 has no place on the scale
  REQUIRE(hollow.size() == 1);
  const Seen &one = counted.at("first &amp; one"), &hundred = counted.at("second");
  CHECK(hollow[0].x == one.x);
  CHECK(hollow[0].y == one.y);
  CHECK(hundred.y == Approx(one.y + 26));
  // Second series: squares.
  std::map<std::string, double> squares;
  const std::regex square(
      "<rect x=\"([0-9.]+)\"[^>]* width=\"([0-9.]+)\"[^>]* data-x=\"([^\"]*)\" "
      "data-y=\"([^\"]*)\" data-name=\"&lt;transmission&gt;\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), square), end; at != end; ++at) {
    const auto& m = *at;
    squares[m[4]] = std::stod(m[1]) + std::stod(m[2]) / 2;
  }
  REQUIRE(squares.size() == 2);
  const double decade = (hundred.x - one.x) / 2;
  CHECK(decade > 50);
  CHECK(squares.at("10") == Approx(one.x + decade).margin(0.2));
  CHECK(squares.at("1000") == Approx(one.x + 3 * decade).margin(0.2));
  for (const char* const text : {">first &amp; one<", ">second<", ">third<", ">start-ups<",
                                 ">&lt;transmission&gt;<", ">blocks<", ">1000<"}) {
    CAPTURE(text);
    CHECK(svg.find(text) != svg.npos);
  }
}
