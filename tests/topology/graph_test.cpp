// One dimension: links, ports, hops, next hops and turns of every shape.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/graph.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <queue>
#include <set>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

TEST_CASE("each link is one port of the vertex it starts at, and each cable is two opposite links",
          "[topology]") {
  const Graph graph = GENERATE(from_range(samples::graphs()));
  CAPTURE(graph.name());
  std::set<std::int64_t> numbers;
  std::set<std::pair<Rank, Rank>> pairs;
  for (Rank v = 0; v < graph.vertices(); ++v) {
    for (int port = 0; port < graph.ports(v); ++port) {
      const std::int64_t link = graph.link(v, port);
      const auto [from, to] = graph.ends(link);
      REQUIRE(from == v);
      REQUIRE((to >= 0 && to < graph.vertices() && to != v));
      numbers.insert(link);
      pairs.emplace(from, to);
    }
  }
  CHECK(static_cast<std::int64_t>(numbers.size()) == graph.links());
  CHECK(pairs.size() == numbers.size());
  if (!numbers.empty()) CHECK((*numbers.begin() == 0 && *numbers.rbegin() == graph.links() - 1));
  for (const auto& [from, to] : pairs) REQUIRE(pairs.count({to, from}) == 1);
}

TEST_CASE("all vertices of a graph are connected", "[topology]") {
  const Graph graph = GENERATE(from_range(samples::graphs()));
  CAPTURE(graph.name());
  CHECK(std::ranges::min(samples::distances(graph, 0)) == 0);
}

TEST_CASE("the next links make a shortest route", "[topology]") {
  const Graph graph = GENERATE(from_range(samples::graphs()));
  if (graph.shape() == Shape::graph) return;  // up*/down* routes may be longer: the test below
  CAPTURE(graph.name());
  int longest = 0;
  for (Rank from = 0; from < graph.nodes(); ++from) {
    const std::vector<int> distance = samples::distances(graph, from);
    for (Rank to = 0; to < graph.nodes(); ++to) {
      Rank at = from;
      int length = 0;
      for (bool up = true; at != to && length <= graph.vertices(); ++length) {
        const auto [start, end] = graph.ends(graph.next(at, to, up));
        REQUIRE(start == at);
        at = end;
      }
      REQUIRE(length == distance[to]);
      longest = std::max(longest, length);
    }
  }
  CHECK(graph.diameter() == longest);
}

TEST_CASE("a route in an arbitrary graph goes up, then down, and no such route is shorter",
          "[topology]") {
  const Graph graph = GENERATE(samples::petersen(), samples::scrambled(5), samples::scrambled(7),
                               samples::scrambled(8), samples::scrambled(16), samples::star(8),
                               samples::scrambled(2), samples::scrambled(1));
  CAPTURE(graph.name());
  const Rank n = graph.nodes();
  const std::vector<int> level = samples::distances(graph, 0);
  const auto goes_up = [&](Graph::Ends link) {
    return std::pair(level[link.to], link.to) < std::pair(level[link.from], link.from);
  };
  for (Rank from = 0; from < n; ++from) {
    // Oracle: breadth first over (vertex, has gone down).
    std::vector<int> distance(2 * static_cast<std::size_t>(n), -1);
    std::queue<int> queue;
    distance[2 * from] = 0;
    queue.push(2 * from);
    for (; !queue.empty(); queue.pop()) {
      const int state = queue.front();
      for (int port = 0; port < graph.ports(state / 2); ++port) {
        const Graph::Ends link = graph.ends(graph.link(state / 2, port));
        if (state % 2 == 1 && goes_up(link)) continue;
        const int after = 2 * link.to + (goes_up(link) ? 0 : 1);
        if (distance[after] >= 0) continue;
        distance[after] = distance[state] + 1;
        queue.push(after);
      }
    }
    for (Rank to = 0; to < n; ++to) {
      Rank at = from;
      int length = 0;
      bool down = false;
      for (bool up = true; at != to && length <= n; ++length) {
        const Graph::Ends link = graph.ends(graph.next(at, to, up));
        REQUIRE(link.from == at);
        REQUIRE_FALSE((down && goes_up(link)));
        down = !goes_up(link);
        REQUIRE(up == !down);
        at = link.to;
      }
      const auto reach = [](int d) { return d < 0 ? std::numeric_limits<int>::max() : d; };
      REQUIRE(length == std::min(reach(distance[2 * to]), reach(distance[2 * to + 1])));
    }
  }
}

TEST_CASE("an arbitrary graph's status and diameter are those of breadth-first searches",
          "[topology]") {
  const Graph graph = GENERATE(from_range(samples::graphs()));
  if (graph.shape() != Shape::graph) {
    CHECK(graph.distances() == nullptr);
    return;
  }
  CAPTURE(graph.name());
  int longest = 0;
  for (Rank v = 0; v < graph.nodes(); ++v) {
    const std::vector<int> distance = samples::distances(graph, v);
    CHECK(graph.distances_from(v) == distance);
    CHECK(graph.distances()->status.at(v) ==
          std::accumulate(distance.begin(), distance.end(), std::int64_t{0}));
    longest = std::max(longest, std::ranges::max(distance));
  }
  CHECK(graph.diameter() == longest);
}

TEST_CASE("two links that a tree's or graph's routes take in a row are among its turns",
          "[topology]") {
  const Graph graph =
      GENERATE(samples::petersen(), samples::scrambled(8), samples::star(5), Graph::tree(1),
               Graph::tree(2), Graph::tree(3), Graph::tree(7), Graph::tree(16));
  CAPTURE(graph.name());
  const auto list = graph.turns();
  const std::set<std::pair<std::int64_t, std::int64_t>> turns(list.begin(), list.end());
  CHECK(turns.size() == list.size());
  for (const auto& [in, out] : turns) {
    REQUIRE(graph.ends(in).to == graph.ends(out).from);
    REQUIRE(graph.ends(in).from != graph.ends(out).to);
  }
  for (Rank from = 0; from < graph.nodes(); ++from) {
    for (Rank to = 0; to < graph.nodes(); ++to) {
      std::int64_t last = -1;
      bool up = true;
      for (Rank at = from; at != to; at = graph.ends(last).to) {
        const std::int64_t link = graph.next(at, to, up);
        if (last >= 0) REQUIRE(turns.count({last, link}) == 1);
        last = link;
      }
    }
  }
}

TEST_CASE("the signed hops lead to the other node by the shorter way, plus when both are equal",
          "[topology]") {
  const Rank n = GENERATE(1, 2, 3, 4, 5, 7, 8, 12);
  const Graph graph = GENERATE_COPY(Graph::line(n), Graph::ring(n));
  CAPTURE(graph.name());
  for (Rank from = 0; from < n; ++from) {
    const std::vector<int> distance = samples::distances(graph, from);
    for (Rank to = 0; to < n; ++to) {
      const int hops = graph.hops(from, to);
      REQUIRE(graph.moved(from, hops) == to);
      REQUIRE(std::abs(hops) == distance[to]);
      if (graph.wraps() && 2 * std::abs(hops) == n) REQUIRE(hops > 0);
    }
  }
}

TEST_CASE("a move stays on a line, and goes less than once round a ring", "[topology]") {
  const Rank n = GENERATE(3, 4, 5, 7, 8);
  const Graph line = Graph::line(n), ring = Graph::ring(n);
  for (Rank from = 0; from < n; ++from) {
    for (int hops = -2 * n; hops <= 2 * n; ++hops) {
      const Rank to = from + hops;
      REQUIRE(line.moved(from, hops) == (to >= 0 && to < n ? to : -1));
      REQUIRE(ring.moved(from, hops) == (std::abs(hops) < n ? (to + 3 * n) % n : -1));
    }
    CHECK(ring.moved(from, std::numeric_limits<int>::min()) == -1);
    CHECK(ring.moved(from, std::numeric_limits<int>::max()) == -1);
  }
}

TEST_CASE("a ring of 2 is one cable, as a line of 2 is", "[topology]") {
  const Graph cable = GENERATE(Graph::ring(2), Graph::line(2));
  CHECK(cable.links() == 2);
  CHECK_FALSE(cable.wraps());
  CHECK(cable.has_direction());
  for (const Rank v : {0, 1}) {
    CHECK(cable.ports(v) == 1);
    CHECK(cable.link(v, 0) == v);
    CHECK(cable.moved(v, 0) == v);
    CHECK(cable.moved(v, +1) == 1 - v);
    CHECK(cable.moved(v, -1) == 1 - v);
    CHECK(cable.moved(v, 2) == -1);
  }
}

TEST_CASE("a graph of one node has no link", "[topology]") {
  for (auto* shape : {Graph::line, Graph::ring, Graph::complete, Graph::tree, samples::star}) {
    const Graph one = shape(1);
    CAPTURE(one.name());
    CHECK(one.links() == 0);
    CHECK(one.vertices() == 1);
    CHECK(one.ports(0) == 0);
    CHECK(one.diameter() == 0);
    CHECK(one.turns().empty());
    if (one.has_direction()) {
      CHECK(one.hops(0, 0) == 0);
      CHECK(one.moved(0, 0) == 0);
      CHECK(one.moved(0, 1) == -1);
    }
  }
}

TEST_CASE("links are numbered in closed form", "[topology]") {
  const Graph line = Graph::line(5), ring = Graph::ring(5), complete = Graph::complete(5),
              tree = Graph::tree(5);
  for (Rank v = 0; v < 5; ++v) {
    if (v < 4) CHECK((line.ends(v).from == v && line.ends(v).to == v + 1));
    if (v > 0) CHECK((line.ends(4 + v - 1).from == v && line.ends(4 + v - 1).to == v - 1));
    CHECK((ring.ends(v).from == v && ring.ends(v).to == (v + 1) % 5));
    CHECK((ring.ends(5 + v).from == v && ring.ends(5 + v).to == (v + 4) % 5));
    for (Rank u = 0; u < 5; ++u) {
      if (u == v) continue;
      const Graph::Ends ends = complete.ends(u * 4 + (v < u ? v : v - 1));
      CHECK((ends.from == u && ends.to == v));
    }
  }
  for (Rank child = 0; child < 8; ++child) {
    CHECK(tree.ends(child).from == child);
    CHECK(tree.ends(8 + child).to == child);
    CHECK(tree.ends(8 + child).from == tree.ends(child).to);
  }
}

TEST_CASE("a tree is balanced, its left half the larger", "[topology]") {
  const Graph tree = Graph::tree(5);
  CHECK(tree.vertices() == 9);
  CHECK(tree.ports(8) == 2);  // the root
  // ((0 1) 2) (3 4): leaf 2 hangs one level above 0 and 1.
  CHECK(samples::distances(tree, 8) == std::vector<int>{3, 3, 2, 2, 2, 2, 1, 1, 0});
  for (const Rank n : {1, 2, 3, 6, 11, 31, 32, 33}) {
    const std::vector<int> distance = samples::distances(Graph::tree(n), 2 * n - 2);
    const auto [low, high] = std::minmax_element(distance.begin(), distance.begin() + n);
    CHECK(*high - *low <= 1);
  }
}

TEST_CASE("big graphs with links in closed form cost nothing", "[topology]") {
  const Graph complete = Graph::complete(1 << 20);
  CHECK(complete.links() == std::int64_t{1 << 20} * ((1 << 20) - 1));
  CHECK(complete.ends(complete.links() - 1).from == (1 << 20) - 1);
  CHECK(complete.ends(complete.links() - 1).to == (1 << 20) - 2);
  CHECK(Graph::ring(1 << 20).diameter() == 1 << 19);
}

TEST_CASE("a graph that cannot be is a usage error that says why", "[topology]") {
  using Edges = std::vector<std::pair<Rank, Rank>>;
  CHECK_THROWS_AS(Graph::ring(0), UsageError);
  CHECK_THROWS_WITH(Graph::line(-3), Contains("line:-3") && Contains("1 to 1048576"));
  CHECK_THROWS_AS(Graph::complete((1 << 20) + 1), UsageError);
  CHECK_THROWS_WITH(Graph::arbitrary(3, Edges{{0, 1}, {1, 1}}, "g"),
                    Contains("g: edge 1 1 is a loop"));
  CHECK_THROWS_WITH(Graph::arbitrary(3, Edges{{0, 1}, {1, 2}, {1, 0}}, "g"),
                    Contains("edge 0 1 is given twice"));
  CHECK_THROWS_WITH(Graph::arbitrary(4, Edges{{0, 1}, {2, 3}}, "g"),
                    Contains("vertex 2 cannot be reached from vertex 0"));
  CHECK_THROWS_WITH(Graph::arbitrary(2, Edges{{0, 2}}, "g"), Contains("no vertex 2 among 2 nodes"));
  CHECK_THROWS_WITH(Graph::arbitrary(2, Edges{{0, -1}}, "g"), Contains("no vertex -1"));
  CHECK_THROWS_WITH(Graph::arbitrary(3, Edges{{1, 2}}, "g"),
                    Contains("g: vertex 0 has no edge; vertices are numbered from 0, not from 1"));
  CHECK_THROWS_WITH(Graph::arbitrary((1 << 20) + 1, Edges{}, "g"),
                    Contains("1048577 nodes; expected 1 to 1048576"));
}

TEST_CASE("a graph of too many nodes for a table of routes says so when it is to route",
          "[topology]") {
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank v = 1; v < 8193; ++v) edges.emplace_back(v / 2, v);
  const Graph large = Graph::arbitrary(8193, edges, "large");
  edges.pop_back();
  const Graph fits = Graph::arbitrary(8192, edges, "fits");
  CHECK(fits.routable());
  CHECK_FALSE(large.routable());
  bool up = true;
  CHECK_THROWS_AS(large.next(0, 1, up), UsageError);
  CHECK_THROWS_WITH(large.next(0, 1, up), Contains("large: 8193 nodes") && Contains("8192"));
  CHECK(large.diameter().value_or(0) == 25);
}

TEST_CASE("lines and rings of one or two nodes are both, as equality has it", "[topology]") {
  for (const Rank nodes : {1, 2, 3, 8}) {
    CAPTURE(nodes);
    for (const Graph& graph : {Graph::line(nodes), Graph::ring(nodes), Graph::complete(nodes)}) {
      CAPTURE(graph.name());
      CHECK(graph.is(graph.shape()));
      CHECK(graph.is(Shape::line) == (graph == Graph::line(nodes)));
      CHECK(graph.is(Shape::ring) == (graph == Graph::ring(nodes)));
      CHECK(graph.is(Shape::complete) == (graph == Graph::complete(nodes)));
      CHECK_FALSE(graph.is(Shape::tree));
    }
  }
}
