// A product network: its numbers, its links, its names.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/topology.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <set>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

TEST_CASE("rank and coordinates are inverse, the last coordinate fastest", "[topology]") {
  const Topology topology = Topology::parse(GENERATE(from_range(samples::texts())));
  CAPTURE(topology.name());
  for (Rank r = 0; r < topology.nodes(); ++r) {
    const std::vector<Rank> at = topology.coordinates(r);
    REQUIRE(topology.rank(at) == r);
    for (int d = 0; d < topology.dimensions(); ++d) {
      REQUIRE(at[d] == topology.coordinate(r, d));
      REQUIRE(topology.on_line(d, topology.line(r, d), at[d]) == r);
      for (Rank c = 0; c < topology.size(d); ++c) {
        std::vector<Rank> changed = at;
        changed[d] = c;
        REQUIRE(topology.with(r, d, c) == topology.rank(changed));
        REQUIRE(topology.line(topology.with(r, d, c), d) == topology.line(r, d));
      }
    }
  }
  const int last = topology.dimensions() - 1;
  if (last >= 0) CHECK(topology.stride(last) == 1);
}

TEST_CASE("a link's place is unique and leads back to the link", "[topology]") {
  const Topology topology = Topology::parse(GENERATE(from_range(samples::texts())));
  CAPTURE(topology.name());
  for (Link link = 0; link < topology.links(); ++link) {
    const Topology::Place place = topology.place(link);
    REQUIRE((place.dimension >= 0 && place.dimension < topology.dimensions()));
    REQUIRE((place.line >= 0 && place.line < topology.nodes() / topology.size(place.dimension)));
    const Graph& graph = topology.factor(place.dimension);
    REQUIRE((place.link >= 0 && place.link < graph.links()));
    REQUIRE(topology.link(place) == link);
    REQUIRE((link >= topology.first_link(place.dimension) &&
             link < topology.first_link(place.dimension + 1)));
  }
}

TEST_CASE("each port of a node is a link that starts there and differs in one coordinate",
          "[topology]") {
  const Topology topology = Topology::parse(GENERATE(from_range(samples::texts())));
  CAPTURE(topology.name());
  std::set<Link> seen;
  for (Rank r = 0; r < topology.nodes(); ++r) {
    for (int port = 0; port < topology.ports(r); ++port) {
      const Link link = topology.link(r, port);
      REQUIRE(seen.insert(link).second);
      const auto [from, to] = topology.link_ends(link);
      REQUIRE(from == r);
      if (to < 0) continue;  // a switch
      const int d = topology.place(link).dimension;
      REQUIRE(topology.with(r, d, topology.coordinate(to, d)) == to);
      REQUIRE(to != r);
    }
  }
  // The links that no node's port leads into are those out of switches.
  Link switched = 0;
  for (Link link = 0; link < topology.links(); ++link) {
    if (topology.link_ends(link).from < 0) ++switched;
  }
  CHECK(static_cast<Link>(seen.size()) + switched == topology.links());
}

TEST_CASE("networks have the links of the textbook", "[topology]") {
  const auto links = [](const char* text) { return Topology::parse(text).links(); };
  CHECK(links("ring:7") == 14);
  CHECK(links("torus:8x8") == 2 * 2 * 64);
  CHECK(links("mesh:6x4") == 2 * (5 * 4 + 6 * 3));
  CHECK(links("hypercube:6") == 6 * 64);
  CHECK(links("hypercube:20") == 20 << 20);
  CHECK(links("complete:4096") == 4096LL * 4095);
  CHECK(links("ghc:4x3") == 12 * (3 + 2));
  CHECK(links("tree:8") == 2 * 14);
  CHECK(links("tree:4*line:3") == 3 * 2 * 6 + 4 * 4);
  CHECK(links("hypercube:0") == 0);
}

TEST_CASE("a neighbour is a number of hops along its dimension", "[topology]") {
  const Topology torus = Topology::parse("torus:3x5");
  CHECK(torus.neighbour(7, 1, +3) == 5);
  CHECK(torus.neighbour(7, 1, -3) == 9);
  CHECK(torus.neighbour(7, 0, +2) == 2);
  CHECK(torus.neighbour(7, 0, 0) == 7);
  CHECK_THROWS_WITH(torus.neighbour(7, 1, 5), Contains("torus:3x5") && Contains("node 7") &&
                                                  Contains("+5") && Contains("dimension 1") &&
                                                  Contains("ring of 5"));
  CHECK_THROWS_WITH(torus.neighbour(7, 2, 1), Contains("dimensions are 0 to 1"));
  CHECK_THROWS_WITH(torus.neighbour(7, -1, 1), Contains("dimension -1"));
  CHECK_THROWS_WITH(torus.neighbour(15, 0, 1), Contains("node 15") && Contains("0 to 14"));
  const Topology mesh = Topology::parse("mesh:3x5");
  CHECK(mesh.neighbour(7, 1, -2) == 5);
  CHECK_THROWS_WITH(
      mesh.neighbour(7, 1, -3),
      Contains("mesh:3x5: node 7 cannot move -3 in dimension 1") && Contains("line of 5"));
  CHECK_THROWS_AS(mesh.neighbour(7, 1, -3), UsageError);
  CHECK_THROWS_WITH(Topology::parse("tree:4").neighbour(0, 0, 1), Contains("no direction"));
  CHECK_THROWS_WITH(Topology::parse("hypercube:0").neighbour(0, 0, 1), Contains("no dimension"));
}

TEST_CASE("shapes are recognised, also where a ring of 2 is a line of 2", "[topology]") {
  const auto parse = [](const char* text) { return Topology::parse(text); };
  for (const char* text : {"hypercube:0", "hypercube:5", "torus:2x2x2", "mesh:2x2", "ghc:2x2",
                           "ring:2*line:2*complete:2"}) {
    CAPTURE(text);
    CHECK(parse(text).is_hypercube());
  }
  for (const char* text : {"torus:2x3", "complete:4", "tree:2", "ring:4", "mesh:1x2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse(text).is_hypercube());
  }
  CHECK(parse("torus:2x8").all(Shape::ring));
  CHECK_FALSE(parse("torus:2x8").all(Shape::line));
  CHECK(parse("torus:2x2").all(Shape::line));
  CHECK(parse("hypercube:3").all(Shape::ring));
  CHECK(parse("mesh:2x4").all(Shape::line));
  CHECK_FALSE(parse("mesh:2x4").all(Shape::ring));
  CHECK(parse("torus:1x4").all(Shape::ring));
  CHECK(parse("ghc:4x3").all(Shape::complete));
  CHECK(parse("tree:4*tree:2").all(Shape::tree));
  CHECK_FALSE(parse("ring:4*line:3").all(Shape::ring));
}

TEST_CASE("a network says which of its dimensions are degenerate", "[topology]") {
  const auto describe = [](const char* text) { return Topology::parse(text).describe(); };
  CHECK(describe("torus:2x8") == "torus:2x8: dimension 0 is one cable (ring of 2)");
  CHECK(describe("torus:8x8") == "torus:8x8");
  CHECK(describe("torus:1x2x3") ==
        "torus:1x2x3: dimension 0 has no link (ring of 1); dimension 1 is one cable (ring of 2)");
  CHECK(describe("hypercube:3") == "hypercube:3");
  CHECK(describe("mesh:1x2") == "mesh:1x2: dimension 0 has no link (line of 1)");
  CHECK(describe("complete:2*tree:2") ==
        "complete:2*tree:2: dimension 0 is one cable (complete graph of 2)");
}

TEST_CASE("a link is named by its ends", "[topology]") {
  const Topology torus = Topology::parse("torus:4x4");
  CHECK(torus.link_name(torus.link({1, 0, 3})) == "3->0");
  CHECK(torus.link_name(torus.link({0, 3, 0})) == "3->7");
  const Topology trees = Topology::parse("tree:2*line:3");
  CHECK(trees.link_name(trees.link({0, 2, 0})) == "2->s0.2.0");
  CHECK(trees.link_name(trees.link({0, 2, 3})) == "s0.2.0->5");
  CHECK(trees.link_ends(trees.link({0, 2, 3})).from == -1);
  CHECK(trees.link_ends(trees.link({0, 2, 3})).to == 5);
  const Topology tree = Topology::parse("tree:4");
  CHECK(tree.link_name(4) == "s0->s2");
}

TEST_CASE("a product without a name is named after its factors", "[topology]") {
  CHECK(Topology({Graph::ring(4), Graph::line(3)}).name() == "ring:4*line:3");
  CHECK(Topology(std::vector<Graph>{}).name() == "hypercube:0");
  CHECK(Topology({Graph::ring(4)}, "mine").name() == "mine");
  CHECK(Topology({Graph::ring(4), Graph::line(3)}) == Topology::parse("ring:4*line:3"));
}

TEST_CASE("a product of too many nodes is a usage error", "[topology]") {
  CHECK_THROWS_WITH(Topology(std::vector<Graph>(21, Graph::line(2)), "big"),
                    Contains("'big' has more than 1048576 nodes"));
  CHECK_THROWS_AS(Topology(std::vector<Graph>(64, Graph::ring(1 << 20))), UsageError);
}

TEST_CASE("networks are equal when their graphs are, whatever they are called", "[topology]") {
  using Edges = std::vector<std::pair<Rank, Rank>>;
  const Graph path = Graph::arbitrary(4, Edges{{0, 1}, {1, 2}, {2, 3}}, "mine");
  const Graph claw = Graph::arbitrary(4, Edges{{0, 1}, {0, 2}, {0, 3}}, "mine");
  CHECK_FALSE(Topology({path}) == Topology({claw}));
  CHECK_FALSE(Topology({path, claw}) == Topology({claw, path}));
  CHECK(Topology({path}) == Topology({path}));
  CHECK(Topology({path}) ==
        Topology({Graph::arbitrary(4, Edges{{3, 2}, {1, 0}, {1, 2}}, "yours")}));
  CHECK_FALSE(Topology({Graph::arbitrary(2, Edges{{0, 1}}, "")}) == Topology({path}));
  CHECK_FALSE(Topology({Graph::ring(4)}, "mine") == Topology({Graph::line(4)}, "mine"));
  CHECK(Topology({Graph::ring(4)}, "mine") == Topology::parse("ring:4"));

  const auto equal = [](const char* a, const char* b) {
    return Topology::parse(a) == Topology::parse(b);
  };
  CHECK(equal("torus:4x3", "ring:4*ring:3"));
  CHECK(equal("hypercube:3", "line:2*hypercube:2"));
  CHECK_FALSE(equal("torus:4x3", "torus:3x4"));
  CHECK_FALSE(equal("ring:4", "ring:5"));
  CHECK_FALSE(equal("ring:4", "line:4"));
  CHECK_FALSE(equal("ring:4", "ring:4*ring:1"));
  CHECK_FALSE(equal("ring:3", "complete:3"));  // no direction in a complete graph
  // One cable, one numbering, one routing rule: one network.
  CHECK(equal("ring:2", "line:2"));
  CHECK(equal("hypercube:1", "ring:2"));
  CHECK(equal("torus:2x2", "hypercube:2"));
  CHECK(equal("ring:1", "line:1"));
  CHECK_FALSE(equal("line:2", "complete:2"));
  CHECK_FALSE(equal("line:2", "tree:2"));
}
