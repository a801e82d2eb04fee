// Status and bounds are exact: formulas, brute force on the product, and exhaustion.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/theory.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;
using theory::CutBound;

namespace {

Topology parsed(const std::string& text) { return Topology::parse(text); }

/// Breadth first on the product itself.
std::vector<std::int64_t> enumerated_status(const Topology& topology) {
  std::vector<std::int64_t> status;
  for (Rank from = 0; from < topology.nodes(); ++from) {
    std::vector<int> distance(topology.nodes(), -1);
    std::vector<Rank> queue{from};
    distance[from] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (int port = 0; port < topology.ports(queue[i]); ++port) {
        const Rank to = topology.link_ends(topology.link(queue[i], port)).to;
        if (distance[to] >= 0) continue;
        distance[to] = distance[queue[i]] + 1;
        queue.push_back(to);
      }
    }
    status.push_back(std::accumulate(distance.begin(), distance.end(), std::int64_t{0}));
  }
  return status;
}

/// Each cut of a small network, counted from its links.
Rational enumerated_cut_bound(const Topology& topology) {
  const Rank n = topology.nodes();
  Rational best;
  for (unsigned side = 1; side < 1U << (n - 1); ++side) {
    std::int64_t part = 0, links = 0;
    for (Rank v = 0; v < n; ++v) part += side >> v & 1;
    for (Link link = 0; link < topology.links(); ++link) {
      const auto [from, to] = topology.link_ends(link);
      links += (side >> from & 1) && !(side >> to & 1) ? 1 : 0;
    }
    best = std::max(best, Rational(part * (n - part), links));
  }
  return best;
}

/// A random connected graph: a random tree and more edges.
Graph random_graph(Rank n, int more, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank v = 1; v < n; ++v) edges.emplace_back(static_cast<Rank>(random() % v), v);
  for (int i = 0; i < more; ++i) {
    const auto u = static_cast<Rank>(random() % n), v = static_cast<Rank>(random() % n);
    const std::pair edge = std::minmax(u, v);
    if (u != v && std::ranges::count(edges, std::pair<Rank, Rank>(edge)) == 0) {
      edges.emplace_back(edge);
    }
  }
  return Graph::arbitrary(n, edges, "random");
}

}  // namespace

TEST_CASE("fractions are exact, in lowest terms, and ordered", "[theory]") {
  CHECK(Rational(6, 4) == Rational(3, 2));
  CHECK(Rational(3, -6) == Rational(-1, 2));
  CHECK(Rational(27, 2).text() == "27/2");
  CHECK(Rational(16, 2).text() == "8");
  CHECK(Rational(27, 2).ceil() == 14);
  CHECK(Rational(8).ceil() == 8);
  CHECK(Rational(0).ceil() == 0);
  CHECK(Rational(27, 2).value() == 13.5);
  CHECK(Rational(1, 3) + Rational(1, 6) == Rational(1, 2));
  CHECK(Rational(2, 3) * Rational(3, 4) == Rational(1, 2));
  CHECK(Rational(2, 3) / Rational(4, 3) == Rational(1, 2));
  CHECK(Rational(1, 3) < Rational(34, 100));
  CHECK(Rational(1, 3) > Rational(33, 100));
  const std::int64_t big = std::int64_t{1} << 62;
  CHECK(Rational(big, 3) * Rational(3, big) == Rational(1));
  CHECK(Rational(big, big - 1) > Rational(big + 1, big));
  CHECK_THROWS_AS(Rational(big) * Rational(4), std::overflow_error);
}

TEST_CASE("rings, lines and complete graphs of up to 64 nodes have the paper's status and bounds",
          "[theory]") {
  for (std::int64_t n = 1; n <= 64; ++n) {
    CAPTURE(n);
    const Graph ring = Graph::ring(static_cast<Rank>(n)), line = Graph::line(static_cast<Rank>(n)),
                complete = Graph::complete(static_cast<Rank>(n));
    CHECK(theory::average_status(ring) == Rational(n * n / 4));
    CHECK(theory::average_status(line) == Rational(n * n - 1, 3));
    CHECK(theory::average_status(complete) == Rational(n - 1));
    const std::int64_t halves = n / 2 * ((n + 1) / 2);
    CHECK(theory::cut_bound(ring).steps == (n <= 2 ? Rational(halves) : Rational(halves, 2)));
    CHECK(theory::cut_bound(line).steps == Rational(halves));
    CHECK(theory::cut_bound(complete).steps == Rational(n == 1 ? 0 : 1));
    for (const Graph& graph : {ring, line, complete}) {
      CHECK(theory::cut_bound(graph).searched == CutBound::Searched::all);
      std::int64_t least = 1 << 20, most = 0;
      for (Rank v = 0; v < n; ++v) {
        const std::vector<int> distance = samples::distances(graph, v);
        const auto sum = std::accumulate(distance.begin(), distance.end(), std::int64_t{0});
        REQUIRE(theory::status(graph, v) == sum);
        least = std::min(least, sum);
        most = std::max(most, sum);
      }
      CHECK(theory::status_range(graph).least == least);
      CHECK(theory::status_range(graph).most == most);
    }
  }
}

TEST_CASE("the average status of networks is exactly this fraction", "[theory]") {
  const auto [text, status, distance] = GENERATE(table<std::string, std::string, std::string>({
      {"hypercube:0", "0", "0"},
      {"hypercube:3", "12", "12/7"},
      {"ring:2", "1", "1"},
      {"torus:4x4", "32", "32/15"},
      {"torus:6x6", "108", "108/35"},
      {"torus:5x4", "44", "44/19"},
      {"torus:3x3x3", "54", "27/13"},
      {"torus:8x8x8x8", "32768", "32768/4095"},
      {"mesh:3x3", "16", "2"},
      {"mesh:3x5", "112/3", "8/3"},
      {"mesh:4x4", "40", "8/3"},
      {"mesh:4x3x2", "190/3", "190/69"},
      {"ghc:4x3", "17", "17/11"},
      {"ghc:2x3x4", "46", "2"},
      {"ring:5*complete:4*line:3", "511/3", "511/177"},
      {"star:5", "32/5", "8/5"},
      {"star:4*star:3", "145/6", "145/66"},
      {"petersen", "15", "5/3"},
      {"petersen*petersen", "300", "100/33"},
      {"petersen*ring:3", "65", "65/29"},
      {"ccc:3", "74", "74/23"},
      {"star-graph:4", "62", "62/23"},
      {"bubble-sort:4", "72", "72/23"},
      {"circulant:12+1+3*line:2", "52", "52/23"},
      {"butterfly:3*ring:4", "316", "316/95"},
  }));
  CAPTURE(text);
  const Topology topology = parsed(text);
  CHECK(theory::average_status(topology).text() == status);
  CHECK(theory::average_distance(topology).text() == distance);
}

TEST_CASE("a hypercube's average status is d 2^(d-1), a generalized one's distance Theorem 1's",
          "[theory]") {
  for (int d = 1; d <= 20; ++d) {
    CHECK(theory::average_status(parsed("hypercube:" + std::to_string(d))) ==
          Rational(std::int64_t{d} << (d - 1)));
  }
  for (const std::vector<int>& sizes :
       std::vector<std::vector<int>>{{4, 3}, {2, 3, 4}, {5, 5}, {2, 2, 7}, {3, 4, 5, 6}}) {
    std::string text = "ghc:";
    Rational sum, nodes(1);
    for (const int m : sizes) {
      text += (text.back() == ':' ? "" : "x") + std::to_string(m);
      sum = sum + Rational(m - 1, m);
      nodes = nodes * Rational(m);
    }
    CAPTURE(text);
    CHECK(theory::average_distance(parsed(text)) == nodes / (nodes + Rational(-1)) * sum);
  }
}

TEST_CASE("status of a product is what a search of the whole product finds", "[theory]") {
  const Topology topology = parsed(GENERATE(from_range(samples::texts())));
  CAPTURE(topology.name());
  if (theory::excludes(topology)) return;
  const std::vector<std::int64_t> status = enumerated_status(topology);
  for (Rank rank = 0; rank < topology.nodes(); ++rank) {
    REQUIRE(theory::status(topology, rank) == status[rank]);
  }
  CHECK(theory::average_status(topology) ==
        Rational(std::accumulate(status.begin(), status.end(), std::int64_t{0}), topology.nodes()));
  CHECK(theory::status_range(topology).least == std::ranges::min(status));
  CHECK(theory::status_range(topology).most == std::ranges::max(status));
}

TEST_CASE("random graphs and their products have the status and the best cut that searches find",
          "[theory]") {
  const unsigned seed = GENERATE(range(1U, 60U));
  CAPTURE(seed);
  const Graph graph =
      random_graph(static_cast<Rank>(2 + seed % 8), static_cast<int>(seed % 7), seed);
  const Topology alone({graph}), product({Graph::line(2), graph});
  for (const Topology& topology : {alone, product, Topology({graph, Graph::ring(3)})}) {
    const std::vector<std::int64_t> status = enumerated_status(topology);
    for (Rank rank = 0; rank < topology.nodes(); ++rank) {
      REQUIRE(theory::status(topology, rank) == status[rank]);
    }
  }
  CHECK(theory::cut_bound(alone).steps == enumerated_cut_bound(alone));
  if (product.nodes() <= 12) {
    CHECK(theory::cut_bound(product).steps == enumerated_cut_bound(product));
    CHECK(theory::cut_bound(product).searched == CutBound::Searched::all);
  }
}

TEST_CASE("the cut bound is exactly this fraction, and says what cuts it knows", "[theory]") {
  using enum CutBound::Searched;
  const auto [text, steps, searched] =
      GENERATE(table<std::string, std::string, CutBound::Searched>({
          {"hypercube:0", "0", all},
          {"ring:2", "1", all},
          {"ring:6", "9/2", all},
          {"petersen", "5", all},
          {"star:7", "6", all},
          {"torus:6x6", "27", dimensions},
          {"torus:10x10", "125", dimensions},
          {"torus:4x4", "8", all},
          {"mesh:6x4", "36", dimensions},
          {"hypercube:6", "32", dimensions},
          {"ring:5*complete:4*line:3", "40", dimensions},
          {"ccc:3", "36", some},
          {"petersen*petersen", "50", dimensions},
          {"line:2*ring:6", "9", all},
          {"ring:1048576", "137438953472", all},
      }));
  CAPTURE(text);
  const CutBound cut = theory::cut_bound(parsed(text));
  CHECK(cut.steps.text() == steps);
  CHECK(cut.searched == searched);
  if (cut.part > 0) {
    const std::int64_t other = parsed(text).nodes() - cut.part;
    CHECK(cut.steps == Rational(cut.part * other, cut.cables));
  }
}

TEST_CASE("a table that is a ring, a line or a complete graph has the closed form's figures",
          "[theory]") {
  const Rank n = GENERATE(2, 3, 4, 7, 20, 21, 30, 31);
  CAPTURE(n);
  for (auto* shape : {Graph::ring, Graph::line, Graph::complete}) {
    const Graph graph = shape(n);
    std::vector<std::pair<Rank, Rank>> edges;
    for (std::int64_t link = 0; link < graph.links(); ++link) {
      const auto [from, to] = graph.ends(link);
      if (from < to) edges.emplace_back(from, to);
    }
    const Graph table = Graph::arbitrary(n, edges, "table");
    CAPTURE(graph.name());
    CHECK(theory::average_status(table) == theory::average_status(graph));
    CHECK(theory::cut_bound(table).steps == theory::cut_bound(graph).steps);
    CHECK(theory::cut_bound(table).searched == CutBound::Searched::all);
    CHECK(theory::tree_bound(Topology({table})) == theory::tree_bound(Topology({graph})));
  }
}

TEST_CASE("in a tree the busiest node bounds one port: paths as in the paper's section on lines",
          "[theory]") {
  for (std::int64_t n = 1; n <= 64; ++n) {
    CAPTURE(n);
    const auto bound = theory::tree_bound(Topology({Graph::line(static_cast<Rank>(n))}));
    CHECK(bound == (n == 1 ? 0 : n % 2 == 0 ? n * n / 2 - 1 : (n * n - 1) / 2));
  }
  CHECK(theory::tree_bound(parsed("star:5")) == 16);  // 4 of its own, 12 between the others
  CHECK(theory::tree_bound(parsed("ring:1*line:4*line:1")) == 7);
  CHECK(theory::tree_bound(parsed("ring:5")) == std::nullopt);
  CHECK(theory::tree_bound(parsed("line:3*line:3")) == std::nullopt);
  const unsigned seed = GENERATE(range(1U, 30U));
  const Graph tree = random_graph(static_cast<Rank>(3 + seed % 9), 0, seed);
  const Rank n = tree.nodes();
  std::int64_t most = 0;
  for (Rank v = 0; v < n; ++v) {
    const std::vector<int> to = samples::distances(tree, v);
    std::int64_t through = n - 1;
    for (Rank s = 0; s < n; ++s) {
      const std::vector<int> distance = samples::distances(tree, s);
      for (Rank d = 0; d < n; ++d) {
        through += s != v && d != v && s != d && to[s] + to[d] == distance[d] ? 1 : 0;
      }
    }
    most = std::max(most, through);
  }
  CHECK(theory::tree_bound(Topology({tree})) == most);
}

TEST_CASE("the theory does not speak of networks with switches", "[theory]") {
  const Topology tree = parsed("ring:4*tree:8");
  REQUIRE(theory::excludes(tree).has_value());
  CHECK_THAT(*theory::excludes(tree), Contains("tree:8 has 7 inner vertices that only switch"));
  CHECK_THROWS_AS(theory::average_status(tree), UsageError);
  CHECK_THROWS_AS(theory::links_bound(tree), UsageError);
  CHECK_THROWS_AS(theory::one_port_bound(tree), UsageError);
  CHECK_THROWS_AS(theory::tree_bound(tree), UsageError);
  CHECK_FALSE(theory::excludes(parsed("ring:4*tree:1")).has_value());
  CHECK(theory::average_status(parsed("ring:4*tree:1")) == Rational(4));
}

TEST_CASE("cuts bound trees, too: their switches count on neither side", "[theory]") {
  CHECK(theory::cut_bound(parsed("tree:1")).steps == Rational(0));
  CHECK(theory::cut_bound(parsed("tree:8")).steps == Rational(16));
  CHECK(theory::cut_bound(parsed("tree:5")).steps == Rational(6));
  CHECK(theory::cut_bound(parsed("ring:4*tree:8")).steps == Rational(64));
  CHECK(theory::cut_bound(parsed("ring:8*tree:2")).steps == Rational(16));
  CHECK(theory::cut_bound(parsed("ring:8*tree:2")).searched == CutBound::Searched::dimensions);
}

TEST_CASE("the bound of a port model is the largest that holds", "[theory]") {
  const auto [text, one, by, all, by_all] =
      GENERATE(table<std::string, std::string, std::string, std::string, std::string>({
          {"ring:6", "9", "average status (3)", "9/2", "cut (4)"},
          {"line:4", "7", "tree", "4", "cut (4)"},
          {"star:6", "25", "tree", "5", "cut (4)"},
          {"mesh:3x3", "16", "average status (3)", "6", "cut (4)"},
          {"petersen", "15", "average status (3)", "5", "cut (4)"},
          {"complete:7", "6", "average status (3)", "1", "cut (4)"},
          {"circulant:13+1+5", "20", "average status (3)", "5", "links"},
          {"hypercube:0", "0", "average status (3)", "0", "cut (4)"},
      }));
  CAPTURE(text);
  const theory::Bound single = theory::one_port_bound(parsed(text)),
                      several = theory::all_port_bound(parsed(text));
  CHECK(single.steps.text() == one);
  CHECK(single.source == by);
  CHECK(several.steps.text() == all);
  CHECK(several.source == by_all);
}

TEST_CASE("a product of a million nodes is not enumerated", "[theory]") {
  const Topology torus = parsed("torus:1024x1024");
  CHECK(theory::average_status(torus) == Rational(std::int64_t{1} << 29));
  CHECK(theory::cut_bound(torus).steps == Rational(std::int64_t{1} << 27));
  CHECK(theory::status(parsed("star:1048576"), 0) == (1 << 20) - 1);
  // The star graph's mean distance to all n! nodes is n - 4 + 2/n + H_n.
  CHECK(theory::average_status(parsed("star-graph:8")).text() == "280944");
}
