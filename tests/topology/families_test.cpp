// Named graphs are what the literature says, and Cayley graphs know their groups.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/families.hpp"

#include "wormcube/runtime/base/numbers.hpp"
#include "wormcube/runtime/topology/cayley.hpp"
#include "wormcube/runtime/topology/routing.hpp"
#include "wormcube/runtime/topology/topology.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

Graph parse(const std::string& text) { return Topology::parse(text).factor(0); }

std::set<Rank> neighbours(const Graph& graph, Rank vertex) {
  std::set<Rank> all;
  for (int port = 0; port < graph.ports(vertex); ++port) {
    all.insert(graph.ends(graph.link(vertex, port)).to);
  }
  return all;
}

}  // namespace

TEST_CASE("a named graph has the nodes, the degree and the diameter of the literature",
          "[topology]") {
  struct Row {
    std::string text;
    Rank nodes;
    int degree, diameter;
  };
  // CCC: 2d + d/2 - 2 for d > 3, 6 for d = 3. Wrapped butterfly: d + d/2. Star graph:
  // 3(n-1)/2 rounded down. Bubble sort: n(n-1)/2.
  const Row row = GENERATE(values<Row>({
      {"petersen", 10, 3, 2},
      {"ccc:3", 24, 3, 6},
      {"ccc:4", 64, 3, 8},
      {"ccc:5", 160, 3, 10},
      {"ccc:6", 384, 3, 13},
      {"butterfly:3", 24, 4, 4},
      {"butterfly:4", 64, 4, 6},
      {"butterfly:5", 160, 4, 7},
      {"gray-hypercube:1", 2, 1, 1},
      {"gray-hypercube:2", 4, 2, 2},
      {"gray-hypercube:5", 32, 5, 5},
      {"circulant:12+1+3", 12, 4, 3},
      {"circulant:8+1+4", 8, 3, 2},
      {"circulant:7+2", 7, 2, 3},
      {"star-graph:3", 6, 2, 3},
      {"star-graph:4", 24, 3, 4},
      {"star-graph:5", 120, 4, 6},
      {"star-graph:7", 5040, 6, 9},
      {"star-graph:8", 40320, 7, 10},
      {"bubble-sort:3", 6, 2, 3},
      {"bubble-sort:4", 24, 3, 6},
      {"bubble-sort:5", 120, 4, 10},
      {"cayley:21", 2, 1, 1},
      {"cayley:231", 3, 2, 1},
      {"cayley:2341+2134", 24, 3, 6},
      {"ccc:1", 2, 1, 1},
      {"ccc:2", 8, 2, 4},
      {"butterfly:1", 2, 1, 1},
      {"butterfly:2", 8, 3, 3},
      {"star-graph:2", 2, 1, 1},
      {"star-graph:1", 1, 0, 0},
      {"circulant:2+1", 2, 1, 1},
      // Of A x 2A the diameter is A, of the torus 3A/2.
      {"twisted:4x8", 32, 4, 4},
      {"twisted:8x16", 128, 4, 8},
      {"twisted:3x5", 15, 4, 3},
      {"twisted:2x3", 6, 4, 2},
  }));
  const Graph graph = parse(row.text);
  CAPTURE(row.text);
  CHECK(graph.name() == row.text);
  CHECK(graph.shape() == Shape::graph);
  CHECK(graph.nodes() == row.nodes);
  CHECK(graph.vertices() == row.nodes);
  CHECK(graph.links() == std::int64_t{row.nodes} * row.degree);
  for (Rank v = 0; v < graph.nodes(); ++v) REQUIRE(graph.ports(v) == row.degree);
  CHECK(graph.diameter() == row.diameter);
}

TEST_CASE("a named graph's nodes are joined as its numbering says", "[topology]") {
  CHECK(parse("petersen") == samples::petersen());
  CHECK(neighbours(parse("star:5"), 0) == std::set<Rank>{1, 2, 3, 4});
  CHECK(neighbours(parse("star:5"), 3) == std::set<Rank>{0});
  const Graph gray = parse("gray-hypercube:4");
  for (Rank i = 0; i < 16; ++i) {
    for (const Rank j : neighbours(gray, i)) {
      REQUIRE(std::has_single_bit(static_cast<unsigned>(gray_code(i) ^ gray_code(j))));
    }
    REQUIRE(neighbours(gray, i).size() == 4);
  }
  CHECK(neighbours(gray, 3) == std::set<Rank>{0, 2, 4, 12});
  CHECK(neighbours(parse("circulant:12+1+3"), 1) == std::set<Rank>{0, 2, 4, 10});
  CHECK(neighbours(parse("twisted:4x8"), 0) == std::set<Rank>{1, 7, 8, 28});
  CHECK(neighbours(parse("twisted:4x8"), 26) == std::set<Rank>{18, 25, 27, 6});
  const Graph cycles = parse("ccc:4"), butterfly = parse("butterfly:4");
  for (Rank w = 0; w < 16; ++w) {
    for (Rank i = 0; i < 4; ++i) {
      const Rank above = (i + 1) % 4, below = (i + 3) % 4;
      REQUIRE(neighbours(cycles, w * 4 + i) ==
              std::set<Rank>{w * 4 + above, w * 4 + below, (w ^ 1 << i) * 4 + i});
      REQUIRE(neighbours(butterfly, w * 4 + i) ==
              std::set<Rank>{w * 4 + above, (w ^ 1 << i) * 4 + above, w * 4 + below,
                             (w ^ 1 << below) * 4 + below});
    }
  }
  // 123 132 213 231 312 321: swaps of the first place with another, and of neighbouring places.
  CHECK(neighbours(parse("star-graph:3"), 0) == std::set<Rank>{2, 5});
  CHECK(neighbours(parse("star-graph:3"), 1) == std::set<Rank>{3, 4});
  CHECK(neighbours(parse("bubble-sort:3"), 0) == std::set<Rank>{1, 2});
  CHECK(neighbours(parse("bubble-sort:3"), 1) == std::set<Rank>{0, 4});
  CHECK(parse("cayley:2134+3214+4231") == parse("star-graph:4"));
  CHECK(parse("cayley:2134+1324+1243") == parse("bubble-sort:4"));
}

TEST_CASE("shuffle-exchange networks, de Bruijn graphs and trees of nodes", "[topology]") {
  struct Row {
    std::string text;
    Rank nodes;
    int cables, diameter;
  };
  // Shuffle-exchange: 2d - 1. De Bruijn: d. A tree of 2^h - 1: 2(h - 1).
  for (const auto& [text, nodes, cables, diameter] : std::vector<Row>{
           {"shuffle-exchange:1", 2, 1, 1},
           {"shuffle-exchange:2", 4, 3, 3},
           {"shuffle-exchange:3", 8, 10, 5},
           {"shuffle-exchange:4", 16, 21, 7},
           {"shuffle-exchange:6", 64, 93, 11},
           {"de-bruijn:2x1", 2, 1, 1},
           {"de-bruijn:2x2", 4, 5, 2},
           {"de-bruijn:2x3", 8, 13, 3},
           {"de-bruijn:2x6", 64, 125, 6},
           {"de-bruijn:3x2", 9, 21, 2},
           {"de-bruijn:5x1", 5, 10, 1},
           {"de-bruijn:4x3", 64, 246, 3},
           {"binary-tree:1", 1, 0, 0},
           {"binary-tree:2", 2, 1, 1},
           {"binary-tree:7", 7, 6, 4},
           {"binary-tree:12", 12, 11, 6},
           {"binary-tree:63", 63, 62, 10},
       }) {
    CAPTURE(text);
    const Graph graph = parse(text);
    CHECK(graph.name() == text);
    CHECK(graph.shape() == Shape::graph);
    CHECK(graph.nodes() == nodes);
    CHECK(graph.vertices() == nodes);
    CHECK(graph.links() == 2 * cables);
    CHECK(graph.diameter() == diameter);
    CHECK(graph.cayley() == nullptr);
  }
  // 011: exchange 010, rotated to the left 110, to the right 101.
  CHECK(neighbours(parse("shuffle-exchange:3"), 3) == std::set<Rank>{2, 5, 6});
  CHECK(neighbours(parse("shuffle-exchange:3"), 7) == std::set<Rank>{6});
  // 011 is followed by 110 and 111, and follows 001 and 101.
  CHECK(neighbours(parse("de-bruijn:2x3"), 3) == std::set<Rank>{1, 5, 6, 7});
  CHECK(neighbours(parse("de-bruijn:2x3"), 0) == std::set<Rank>{1, 4});
  // 12 in base 3 is followed by 20, 21, 22, and follows 01, 11, 21.
  CHECK(neighbours(parse("de-bruijn:3x2"), 5) == std::set<Rank>{1, 4, 6, 7, 8});
  CHECK(neighbours(parse("binary-tree:7"), 1) == std::set<Rank>{0, 3, 4});
  const auto refused = [](const char* text, const char* why) {
    CHECK_THROWS_WITH(Topology::parse(text), Contains(why));
  };
  refused("de-bruijn:2", "expected a number of letters and a length");
  refused("de-bruijn:1x4", "2 letters or more");
  refused("de-bruijn:2x21", "at most 1048576 words");
  refused("de-bruijn:1024x1000", "at most 1048576 words");
  refused("shuffle-exchange:17", "may be up to 16");
  refused("shuffle-exchange:3x3", "write shuffle-exchange:3*shuffle-exchange:2");
  refused("binary-tree:0", "expected a whole number of 1 or more");
}

TEST_CASE("a Cayley graph's group has an identity, inverses and a product that is associative",
          "[topology]") {
  const Graph graph = parse(
      GENERATE("ring:1", "ring:2", "ring:3", "ring:7", "line:1", "line:2", "complete:1",
               "complete:2", "complete:6", "ccc:1", "ccc:2", "ccc:3", "butterfly:1", "butterfly:2",
               "butterfly:3", "circulant:2+1", "gray-hypercube:1", "gray-hypercube:4",
               "circulant:12+1+3", "circulant:8+1+4", "star-graph:1", "star-graph:2",
               "star-graph:4", "bubble-sort:4", "cayley:2341", "cayley:231+213"));
  CAPTURE(graph.name());
  const auto group = graph.cayley();
  REQUIRE(group != nullptr);
  const Rank n = graph.nodes();
  REQUIRE(group->order == n);
  for (Rank a = 0; a < n; ++a) {
    REQUIRE(group->product(0, a) == a);
    REQUIRE(group->product(a, 0) == a);
    REQUIRE(group->product(a, group->inverse(a)) == 0);
    for (Rank b = 0; b < n; ++b) {
      const Rank ab = group->product(a, b);
      REQUIRE((ab >= 0 && ab < n));
      for (Rank c = 0; c < n; ++c) {
        REQUIRE(group->product(ab, c) == group->product(a, group->product(b, c)));
      }
    }
    std::set<Rank> reached;
    for (std::size_t i = 0; i < group->generators.size(); ++i) {
      const Rank s = group->generators[i];
      CHECK(s != 0);
      CHECK(std::ranges::count(group->generators, group->inverse(s)) == 1);
      CHECK(group->step(a, i) == group->product(a, s));
      reached.insert(group->step(a, i));
    }
    REQUIRE(reached == neighbours(graph, a));
    REQUIRE(reached.size() == group->generators.size());
  }
}

TEST_CASE("graphs that are not known as Cayley graphs have no group", "[topology]") {
  for (const char* text : {"line:3", "tree:4", "star:4", "petersen"}) {
    CAPTURE(text);
    CHECK(parse(text).cayley() == nullptr);
  }
}

TEST_CASE("degenerate sizes of named graphs are named", "[topology]") {
  const auto describe = [](const char* text) { return Topology::parse(text).describe(); };
  CHECK(describe("ccc:2") == "ccc:2: dimension 0: its cycles of 2 are one cable each: a ring of 8");
  CHECK(describe("ring:3*butterfly:2") ==
        "ring:3*butterfly:2: dimension 1: between its 2 levels the straight cables coincide");
  CHECK(describe("ccc:1") == "ccc:1: dimension 0 is one cable (ccc:1 of 2)");
  CHECK(describe("star:1") == "star:1: dimension 0 has no link (star:1 of 1)");
  CHECK(describe("star-graph:3") == "star-graph:3: dimension 0: a ring of 6");
  CHECK(describe("ccc:3*petersen") == "ccc:3*petersen");
}

TEST_CASE("a network is the same without what has failed, its nodes numbered anew", "[topology]") {
  const Topology whole = Topology::parse("mesh:2x3"), cut = Topology::parse("mesh:2x3~0-1~5");
  CHECK(cut.name() == "mesh:2x3~0-1~5");
  CHECK(cut.nodes() == 5);
  // 7 cables; less 0-1, and the two of node 5.
  CHECK(whole.links() == 2 * 7);
  CHECK(cut.links() == 2 * 4);
  CHECK(neighbours(cut.factor(0), 0) == std::set<Rank>{3});
  CHECK(neighbours(cut.factor(0), 1) == std::set<Rank>{2, 4});
  // Of what comes after a failed node the numbers go down by one.
  CHECK(neighbours(Topology::parse("ring:5~1").factor(0), 0) == std::set<Rank>{3});
  CHECK(Topology::parse("ring:5~1").links() == 2 * 3);
  CHECK(Topology::parse("ring:6~0-5").nodes() == 6);
  CHECK_FALSE(dependency_cycle(Routing(Topology::parse("torus:4x4~3-7~9"), 1)));
  const auto expect_error = [](const char* text, const char* why) {
    CHECK_THROWS_WITH(Topology::parse(text), Catch::Matchers::Contains(why));
  };
  expect_error("ring:5~0-2", "no cable there");
  expect_error("ring:5~0-1~0-1", "no cable there");
  expect_error("ring:5~7", "nodes of ring:5 are 0 to 4");
  expect_error("line:3~1", "not connected: no path leads from node 0 of line:3 to node 2");
  CHECK(Topology::parse("line:2~0").nodes() == 1);
  expect_error("tree:4~1", "switches have no numbers");
  expect_error("ring:3~x", "'3~x'");
  expect_error("line:2~0~1", "all its nodes");
  expect_error("twisted:1x4", "need at least 2 and 3");
  expect_error("twisted:4", "expected rows and columns");
}
