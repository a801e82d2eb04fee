// Total exchanges of single graphs and of products: steps by formula, laws, bounds, mutants.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/product.hpp"

#include "wormcube/collectives/alltoall/product/edge_colouring.hpp"
#include "wormcube/collectives/alltoall/product/factor.hpp"
#include "wormcube/collectives/alltoall/product/multiport.hpp"
#include "wormcube/collectives/alltoall/product/multiport_general.hpp"
#include "wormcube/collectives/alltoall/product/single.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/prove.hpp"
#include "wormcube/runtime/topology/families.hpp"
#include "wormcube/runtime/topology/theory.hpp"
#include "wormcube/tests/sanitized.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;

namespace {

using Random = std::mt19937;

/// A random tree and `extra` more edges.
Graph random_graph(Random& random, Rank nodes, int extra) {
  std::set<std::pair<Rank, Rank>> edges;
  const auto below = [&](Rank n) { return static_cast<Rank>(random() % n); };
  for (Rank v = 1; v < nodes; ++v) edges.insert({below(v), v});
  for (int i = 0; i < extra; ++i) {
    const Rank u = below(nodes), v = below(nodes);
    if (u != v) edges.insert({std::min(u, v), std::max(u, v)});
  }
  // Numbers in any order: exchanges must not depend on the tree's.
  std::vector<Rank> label(static_cast<std::size_t>(nodes));
  std::iota(label.begin(), label.end(), 0);
  std::shuffle(label.begin(), label.end(), random);
  std::vector<std::pair<Rank, Rank>> labelled;
  for (const auto& [u, v] : edges) labelled.emplace_back(label[u], label[v]);
  return Graph::arbitrary(nodes, labelled, "random:" + std::to_string(random()));
}

/// The whole network as one graph.
Adjacency whole(const Topology& topology) {
  Adjacency graph;
  for (Rank v = 0; v < topology.nodes(); ++v) {
    std::vector<Rank>& list = graph.neighbours.emplace_back();
    for (int port = 0; port < topology.ports(v); ++port) {
      list.push_back(topology.link_ends(topology.link(v, port)).to);
    }
    std::ranges::sort(list);
  }
  return graph;
}

std::size_t count(const Graph& graph, const ExchangeTemplate& exchange, Ports ports) {
  CAPTURE(graph.name(), exchange.copies());
  CHECK(fault(exchange, Adjacency::of(graph), ports).empty());
  for (std::size_t t = 0; t < exchange.steps(); ++t) CHECK_FALSE(exchange.step(t).empty());
  return exchange.steps();
}
std::size_t one_port(const Graph& graph) {
  return count(graph, *best_exchange(graph, Ports::one), Ports::one);
}
std::size_t all_port(const Graph& graph, Rank copies = 1) {
  return count(graph, *best_exchange(graph, Ports::all, copies), Ports::all);
}

/// Steps of a product's exchange, written down in full and checked; equal to its prediction.
double checked(const Topology& topology, Rounds (*rounds)(const Topology&),
               Prediction (*predict)(const Topology&), Ports ports) {
  CAPTURE(topology.name());
  const ExchangeTemplate exchange = expand(topology.nodes(), rounds(topology));
  CHECK(fault(exchange, whole(topology), ports).empty());
  const auto steps = static_cast<double>(exchange.steps());
  CHECK(predict(topology).startups == steps);
  CHECK(predict(topology).transmission_blocks == steps);
  return steps;
}
double a1(const Topology& topology) {
  return checked(topology, product_naive_rounds, predict_alltoall_product_naive, Ports::one);
}
double a1_serial(const Topology& topology) {
  return checked(topology, product_serial_rounds, predict_alltoall_product_serial, Ports::one);
}
double a2(const Topology& topology) {
  return checked(topology, product_rounds, predict_alltoall_product, Ports::one);
}
double a3(const Topology& topology) {
  return checked(topology, product_multiport_rounds, predict_alltoall_product_multiport,
                 Ports::all);
}
double a3g(const Topology& topology) {
  const Copies copies = choose_copies(topology);
  const double steps = checked(topology, product_multiport_general_rounds,
                               predict_alltoall_product_multiport_general, Ports::all);
  CHECK(steps <= static_cast<double>(copies.total()));
  return steps;
}
Topology network(const char* text) { return Topology::parse(text); }

Rational rational(double steps) { return static_cast<std::int64_t>(steps); }

Collective exchange_named(const char* name) {
  return Collective(find_algorithm(operations::alltoall, name));
}

/// What `check` finds: recorded, counted, judged, proved.
CheckResult checked_by(const char* name, const Topology& topology) {
  CAPTURE(topology.name(), name);
  const Collective collective = exchange_named(name);
  CheckOptions options;
  options.all_port = collective.algorithm->ports == Ports::all;
  const CheckResult result = check_collective(collective, topology, options);
  for (const std::string& failure : result.failures) UNSCOPED_INFO(failure);
  CHECK(result.passed());
  CHECK(result.delivered == true);
  CHECK(result.exactly_once == true);
  CHECK(result.report.link_load_max <= 1);
  CHECK(result.report.port_violations == 0);
  REQUIRE(result.lower_bound.exact);
  return result;
}
CheckResult checked_by(const char* name, const char* text) {
  return checked_by(name, network(text));
}

Rational cut_bound(const Topology& topology) { return theory::cut_bound(topology).steps; }

std::vector<std::vector<BlockMove>> steps_of(const ExchangeTemplate& exchange) {
  std::vector<std::vector<BlockMove>> steps;
  for (std::size_t t = 0; t < exchange.steps(); ++t) {
    const auto step = exchange.step(t);
    steps.emplace_back(step.begin(), step.end());
  }
  return steps;
}

}  // namespace

TEST_CASE("rings, lines and complete graphs to 64 exchange in the steps of their formulas",
          "[product]") {
  for (std::size_t n = 2; n <= (sanitized ? 24 : 64); ++n) {
    const auto nodes = static_cast<Rank>(n);
    const Graph line = Graph::line(nodes), ring = Graph::ring(nodes);
    const Graph complete = Graph::complete(nodes);
    CHECK(one_port(ring) == (n == 2 ? 1 : n * n / 4));
    CHECK(one_port(line) == (n % 2 == 0 ? n * n / 2 - 1 : (n * n - 1) / 2));
    CHECK(one_port(complete) == n - 1);
    CHECK(all_port(ring) == (n == 2 ? 1 : n % 2 == 0 ? (n * n + 7) / 8 : (n * n - 1) / 8));
    CHECK(all_port(line) == n * n / 4);
    CHECK(all_port(complete) == 1);
  }
}

TEST_CASE("several exchanges at once fill what one leaves idle", "[product]") {
  for (Rank n = 2; n <= 22; ++n) {
    for (const Rank m : {2, 3, 4, 7}) {
      for (const Graph& graph : {Graph::line(n), Graph::ring(n), Graph::complete(n)}) {
        CHECK(all_port(graph, m) == all_port_steps(graph, m));
      }
    }
  }
  CHECK(all_port_steps(Graph::ring(6), 1) == 5);
  CHECK(all_port_steps(Graph::ring(6), 2) == 9);
}

TEST_CASE("Cayley graphs exchange in their average status: optimal with one port", "[product]") {
  for (const auto& [text, steps] : {
           std::pair{"ccc:3", 74},
           {"butterfly:3", 55},
           {"star-graph:4", 62},
           {"star-graph:5", 442},
           {"bubble-sort:4", 72},
           {"circulant:13+1+5", 20},
           {"circulant:16+1+4", 30},
           {"circulant:12+1+3", 20},
           {"cayley:2134+2341", 0},
           {"ccc:2", 0},
           {"ccc:4", 0},
           {"butterfly:2", 0},
           {"butterfly:4", 0},
           {"bubble-sort:5", 0},
           {"ring:7", 12},
           {"complete:9", 8},
           {"line:2", 1},
       }) {
    const Graph graph = network(text).factor(0);
    CAPTURE(text);
    const auto taken = static_cast<std::int64_t>(one_port(graph));
    CHECK(theory::average_status(graph) == Rational(taken));
    if (steps > 0) CHECK(taken == steps);
    if (graph.nodes() > 64) continue;
    const Adjacency list = Adjacency::of(graph);
    CHECK(fault(greedy_all_port(list), list, Ports::all).empty());
  }
}

TEST_CASE("products with Cayley graphs meet the average status, and `check` says so", "[product]") {
  for (const char* text :
       {"ccc:3", "butterfly:3", "star-graph:4", "bubble-sort:4", "circulant:12+1+3", "ccc:3*ring:3",
        "star-graph:3*butterfly:2", "circulant:8+1+3*complete:3*line:2", "bubble-sort:3*petersen",
        "cayley:213+231*hypercube:2"}) {
    const Topology topology = network(text);
    const CheckResult result = checked_by("product", topology);
    CHECK(Rational(static_cast<std::int64_t>(result.report.startups)) ==
          theory::average_status(topology));
    CHECK(result.lower_bound.exact == theory::average_status(topology));
    CHECK(result.lower_bound.source == "average status (3)");
    CHECK(result.bound_met() == true);
    CHECK(result.optimal() == true);
  }
}

TEST_CASE("a graph whose group is known does not lend its exchange to one of equal edges",
          "[product]") {
  const Graph known = star_graph(4);
  std::vector<std::pair<Rank, Rank>> edges;
  for (std::int64_t link = 0; link < known.links(); ++link) {
    const auto [from, to] = known.ends(link);
    if (from < to) edges.emplace_back(from, to);
  }
  const Graph table = Graph::arbitrary(known.nodes(), edges, "table");
  CHECK(one_port(known) == 62);
  const std::size_t without = one_port(table);
  CHECK(without >= 62);
  for (const Graph& graph : {known, table, known}) {
    const std::size_t steps = graph.cayley() != nullptr ? 62 : without;
    CHECK(total_steps(*kept_rounds(product_rounds, Topology({graph}))) == steps);
  }
}

TEST_CASE("rings whose group nobody knows meet the one-port bound, however they are numbered",
          "[product]") {
  // Blocks half round have two ways: the lowest neighbour for all takes 10 steps on 6 nodes.
  for (Rank n = 4; n <= 16; ++n) {
    for (const Rank factor : {1, n - 1, n % 3 == 0 ? 1 : 3}) {  // i -> factor i: other names
      if (std::gcd(n, factor) != 1) continue;
      std::vector<std::pair<Rank, Rank>> edges;
      for (Rank i = 0; i < n; ++i) edges.emplace_back(i * factor % n, (i + 1) * factor % n);
      CAPTURE(n, factor);
      CHECK(one_port(Graph::arbitrary(n, edges, "ring")) == static_cast<std::size_t>(n * n / 4));
    }
  }
}

TEST_CASE("a last round with less left takes fewer steps", "[product]") {
  // Two full rounds of 4 steps: 2 exchanges of the star, 1 of the ring at once; then 1 of each, 3.
  const Topology topology = network("ring:5*star:3");
  const Copies copies = choose_copies(topology);
  CHECK(copies.rounds == 3);
  CHECK(copies.steps == 4);
  CHECK(copies.last == std::vector<Rank>{1, 1});
  CHECK(copies.last_steps == 3);
  CHECK(a3g(topology) == 11);
  for (const char* text : {"ring:5*line:3", "ring:7*star:3", "ring:5*star:4",
                           "line:4*ring:5*star:3", "complete:4*star:5", "petersen*line:3"}) {
    CAPTURE(text);
    a3g(network(text));
  }
}

TEST_CASE("any graph has an exchange, Petersen's meets both bounds, trees meet the cut",
          "[product]") {
  CHECK(one_port(samples::petersen()) == 15);
  CHECK(all_port(samples::petersen()) == 5);
  Random random(20231);
  for (int i = 0; i < 60; ++i) {
    const Rank nodes = i < 50 ? 2 + i % 14 : 64;
    const int extra = i % 3 == 0 ? 0 : static_cast<int>(random() % (2 * nodes));
    const Graph graph = random_graph(random, nodes, extra);
    const Adjacency list = Adjacency::of(graph);
    const Topology alone({graph});
    CAPTURE(nodes, extra, i);
    CHECK(fault(layered_one_port(list), list, Ports::one).empty());
    CHECK(fault(greedy_one_port(list), list, Ports::one).empty());
    const auto one = static_cast<std::int64_t>(one_port(graph));
    const auto all = static_cast<std::int64_t>(all_port(graph));
    CHECK(one >= theory::one_port_bound(alone).steps.ceil());
    CHECK(all >= theory::all_port_bound(alone).steps.ceil());
    if (extra == 0 && nodes <= 16) CHECK(cut_bound(alone) == Rational(all));
    if (nodes <= 16) {
      CHECK(count(graph, *best_exchange(graph, Ports::all, 3), Ports::all) ==
            all_port_steps(graph, 3));
      CHECK(static_cast<std::int64_t>(slowest_exchange(graph)->steps()) == Distances(list).total());
      count(graph, *slowest_exchange(graph), Ports::one);
    }
  }
}

TEST_CASE("up*/down* routes between neighbours of any graph are the link between them",
          "[product]") {
  Random random(7);
  for (int i = 0; i < 30; ++i) {
    const Graph graph = i == 0 ? samples::petersen() : random_graph(random, 4 + i, i % 5 * 6);
    const Adjacency list = Adjacency::of(graph);
    for (Rank u = 0; u < graph.nodes(); ++u) {
      for (const Rank v : list.neighbours[u]) {
        bool up = true;
        CHECK(graph.ends(graph.next(u, v, up)).to == v);
      }
    }
  }
}

TEST_CASE("edges are coloured with as many colours as the largest degree", "[product]") {
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    const Rank left = 1 + static_cast<Rank>(random() % 9),
               right = 1 + static_cast<Rank>(random() % 9);
    std::vector<std::pair<Rank, Rank>> edges;
    std::vector<int> degree(static_cast<std::size_t>(left) + right, 0);
    for (std::size_t e = random() % 60; e-- > 0;) {
      const auto& [u, v] = edges.emplace_back(static_cast<Rank>(random() % left),
                                              static_cast<Rank>(random() % right));
      ++degree[u];
      ++degree[left + v];
    }
    const EdgeColouring colouring = colour_edges(left, right, edges);
    CHECK(colouring.colours == std::ranges::max(degree));
    std::set<std::pair<Rank, int>> seen;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      CHECK(colouring.colour[e] >= 0);
      CHECK(colouring.colour[e] < colouring.colours);
      CHECK(seen.emplace(edges[e].first, colouring.colour[e]).second);
      CHECK(seen.emplace(left + edges[e].second, colouring.colour[e]).second);
    }
  }
}

TEST_CASE("the checker names each law that a template breaks", "[product]") {
  const Adjacency path = Adjacency::of(Graph::line(3));
  const auto says = [&](const std::vector<std::vector<BlockMove>>& steps, const char* what,
                        Ports ports = Ports::one) {
    const std::string found = fault(ExchangeTemplate(3, 1, steps), path, ports);
    INFO(found);
    CHECK(found.find(what) != std::string::npos);
  };
  says({{{0, 2, 0, 2}}}, "not neighbours");
  says({{{0, 1, 0, 3}}}, "no such node");
  says({{{0, 1, 0, 0}}}, "a block for its own node");
  says({{{1, 2, 0, 2}}}, "the block is at 0");
  says({{{0, 1, 0, 2}, {1, 2, 0, 2}}}, "moved twice");
  says({{{0, 1, 0, 1}}, {{1, 2, 0, 1}}}, "it had already arrived");
  says({{{1, 0, 1, 0}, {1, 2, 1, 2}}}, "a second send");
  says({{{0, 1, 0, 1}, {2, 1, 2, 1}}}, "a second receive");
  says({{{0, 1, 0, 1}, {0, 1, 0, 2}}}, "a second block on the link", Ports::all);
  says({{{0, 1, 0, 1, 1}}}, "no such copy");
  says({{{0, 1, 0, 1}}}, "the block 0 -> 2, copy 0, ends at 0");
  CHECK(fault(line_one_port(3), path, Ports::one).empty());
  CHECK(fault(line_one_port(4), path, Ports::one) == "a template of 4 nodes for a graph of 3");
  CHECK_FALSE(fault(line_all_port(3), path, Ports::one).empty());
}

TEST_CASE("mutant: a template with two entries swapped is no exchange", "[product][mutant]") {
  for (const Graph& graph : {Graph::ring(6), Graph::line(5), samples::petersen()}) {
    const auto exchange = best_exchange(graph, Ports::one);
    const Adjacency list = Adjacency::of(graph);
    const auto steps = steps_of(*exchange);
    for (std::size_t t = 0; t + 1 < steps.size(); ++t) {
      auto mutant = steps;
      // The blocks of two transfers of a step.
      std::swap(mutant[t].front().source, mutant[t].back().source);
      std::swap(mutant[t].front().destination, mutant[t].back().destination);
      if (mutant[t].size() > 1) {
        CHECK_FALSE(fault(ExchangeTemplate(graph.nodes(), 1, mutant), list, Ports::one).empty());
      }
      // A transfer left out.
      mutant = steps;
      mutant[t].pop_back();
      CHECK_FALSE(fault(ExchangeTemplate(graph.nodes(), 1, mutant), list, Ports::one).empty());
    }
  }
}

TEST_CASE("products with one port take the sum of their dimensions' exchanges", "[product]") {
  for (const auto& [text, steps] : {
           std::pair{"hypercube:0", 0.0},
           {"hypercube:1", 1.0},
           {"hypercube:4", 32.0},
           {"hypercube:6", 192.0},
           {"torus:4x4", 32.0},
           {"torus:5x3", 5 * 2 + 3 * 6.0},
           {"torus:6x6", 108.0},
           {"torus:2x8", 2 * 16 + 8 * 1.0},
           {"torus:1x5", 6.0},
           {"torus:4x4x4", 192.0},
           {"torus:3x3x3x3", 216.0},
           {"ghc:4x3", 3 * 3 + 4 * 2.0},
           {"ghc:5x3x2", 6 * 4 + 10 * 2 + 15 * 1.0},
           {"mesh:3x3", 24.0},
           {"mesh:4x4", 56.0},
           {"mesh:5x5", 120.0},
           {"ring:5*complete:4*line:3", 12 * 6 + 15 * 3 + 20 * 4.0},
           {"complete:3*ring:7*line:2", 14 * 2 + 6 * 12 + 21 * 1.0},
       }) {
    CHECK(a2(network(text)) == steps);
  }
  const Topology petersen({samples::petersen(), Graph::ring(4)});
  CHECK(a2(petersen) == 4 * 15 + 10 * 4);
  CHECK(theory::one_port_bound(petersen).steps == Rational(100));
}

TEST_CASE("hypercubes to ten dimensions take d 2^(d-1) steps with one port, 2^(d-1) with all",
          "[product]") {
  for (int d = 1; d <= 10; ++d) {
    const Topology cube = network(("hypercube:" + std::to_string(d)).c_str());
    CHECK(total_steps(product_rounds(cube)) == static_cast<std::size_t>(d) << (d - 1));
    CHECK(theory::average_status(cube) == Rational(std::int64_t{d} << (d - 1)));
    if (d <= 7) {
      CHECK(a2(cube) == d << (d - 1));
      CHECK(a3g(cube) == 1 << (d - 1));
    }
    if (d == 1 || d == 2 || d == 4) CHECK(a3(cube) == 1 << (d - 1));
  }
}

TEST_CASE("dry runs of hypercubes to ten dimensions keep all laws", "[.wide][product]") {
  for (int d = 5; d <= 10; ++d) {
    const Topology cube = network(("hypercube:" + std::to_string(d)).c_str());
    for (const char* name : {"product", "product-multiport", "product-multiport-general"}) {
      const Collective collective = exchange_named(name);
      if (refusal(collective, cube)) continue;
      CAPTURE(d, name);
      const bool all = collective.algorithm->ports == Ports::all;
      const CheckResult result =
          check_collective(collective, cube, {.all_port = all, .prove_up_to = 0});
      CHECK(result.report.startups == static_cast<std::size_t>(all ? 1 : d) << (d - 1));
      CHECK(result.passed());
      CHECK(result.bound_met() == true);
    }
  }
}

TEST_CASE("products of trees and of shuffle networks exchange dimension by dimension",
          "[product]") {
  const auto alone = [](const char* factor) { return a2(network(factor)); };
  for (const char* const factor :
       {"binary-tree:5", "binary-tree:7", "shuffle-exchange:3", "de-bruijn:2x3", "de-bruijn:3x2"}) {
    CAPTURE(factor);
    const double n = network(factor).nodes(), steps = alone(factor);
    CHECK(a2(network(fmt::format("{}*ring:3", factor).c_str())) == n * 2 + 3 * steps);
    CHECK(a2(network(fmt::format("{0}*{0}", factor).c_str())) == 2 * n * steps);
    checked_by("product", fmt::format("{}*line:2", factor).c_str());
  }
  // With all ports the cut at the root is the bound, and it is met.
  const Topology trees = network("binary-tree:7*binary-tree:7");
  CHECK(a2(trees) == 336);
  CHECK(a3(trees) == 84);
  CHECK(theory::all_port_bound(trees).steps == Rational(84));
}

TEST_CASE("the naive exchange moves one block at a time in all dimensions but the first",
          "[product]") {
  CHECK(a1(network("torus:4x4")) == 16 * 4 + 4 * 4);
  CHECK(a1(network("ring:6")) == 9);
  CHECK(a1(network("torus:1x4")) == 4);
  CHECK(a1(network("mesh:3x2")) == 6 * 1 + 2 * 4);
  CHECK(a1(network("complete:3*line:3*ring:4")) == 36 * (4 + 8.0 / 3) + 12 * 2);
  // As first printed: n1^2 n2 AS(B) + n2 T_A.
  CHECK(a1_serial(network("torus:4x4")) == 4 * 4 * 4 * 4 + 4 * 4);
  CHECK(a1_serial(network("mesh:3x2")) == 9 * 2 * 1 + 2 * 4);
  CHECK(a1_serial(network("mesh:2x3")) == 4 * 3 * (8.0 / 3) + 3 * 1);
  CHECK(a1_serial(network("ring:6")) == 9);
  CHECK(a1_serial(network("torus:1x4")) == 4);
  CHECK(a1_serial(network("complete:3*line:3*ring:4")) == 36 * (9 * 4 + 3 * (8.0 / 3)) + 12 * 2);
}

TEST_CASE("squares of equal graphs with all ports take p/n times the steps of one", "[product]") {
  for (const auto& [text, steps] : {
           std::pair{"hypercube:2", 2.0},
           {"hypercube:4", 8.0},
           {"hypercube:8", 128.0},
           {"torus:3x3", 3.0},
           {"torus:4x4", 8.0},
           {"torus:5x5", 15.0},
           {"torus:6x6", 30.0},
           {"torus:8x8", 64.0},
           {"torus:3x3x3x3", 27.0},
           {"torus:4x4x4x4", 128.0},
           {"mesh:3x3", 6.0},
           {"mesh:5x5", 30.0},
           {"mesh:3x3x3x3", 54.0},
           {"ghc:4x4", 4.0},
           {"ghc:3x3x3x3", 27.0},
           {"ring:6", 5.0},
           {"torus:1x6", 5.0},
           {"ring:2*line:2", 2.0},  // both are one cable
           {"ring:3*complete:3", 3.0},
           {"hypercube:0", 0.0},
       }) {
    CHECK(a3(network(text)) == steps);
  }
  CHECK(a3(Topology({samples::petersen(), samples::petersen()})) == 50);
  Random random(11);
  for (int i = 0; i < 12; ++i) {
    const Graph graph = random_graph(random, 3 + i % 5, i % 4);
    CHECK(a3(Topology({graph, graph})) ==
          graph.nodes() * static_cast<double>(all_port_steps(graph, 1)));
  }
}

TEST_CASE("any product with all ports: as good as the squares, and better on even rings",
          "[product]") {
  for (const auto& [text, steps] : {
           std::pair{"torus:3x3", 3.0},
           {"mesh:3x3x3", 18.0},
           {"torus:4x4x4", 32.0},
           {"ghc:4x4x4", 16.0},
           {"torus:6x6", 27.0},
           {"torus:10x10", 125.0},
           {"line:2*ring:6", 10.0},
           {"ghc:4x3x2", 12.0},
           {"ring:5*complete:4*line:3", 40.0},
           {"ring:6", 5.0},
           {"hypercube:0", 0.0},
       }) {
    CAPTURE(text);
    CHECK(a3g(network(text)) == steps);
    CHECK_FALSE(rational(steps) < theory::all_port_bound(network(text)).steps);
  }
}

TEST_CASE("products of random graphs and trees are exchanges", "[product]") {
  Random random(5);
  for (int i = 0; i < 40; ++i) {
    std::vector<Graph> factors;
    const std::array shapes{Graph::line, Graph::ring, Graph::complete};
    for (int d = 0; d < 2 + i % 2; ++d) {
      const Rank nodes = 2 + static_cast<Rank>(random() % 4);
      factors.push_back(random() % 2 == 0 ? shapes[random() % 3](nodes)
                                          : random_graph(random, nodes, d));
    }
    const Topology topology(factors);
    double sum = 0;
    for (const Graph& graph : factors) {
      sum += topology.nodes() / graph.nodes() *
             static_cast<double>(best_exchange(graph, Ports::one)->steps());
    }
    CHECK(a2(topology) == sum);
    const double general = a3g(topology);
    CHECK_FALSE(rational(general) < theory::all_port_bound(topology).steps);
    if (i % 4 == 0) a1(topology);
  }
}

TEST_CASE("the paper's 3 x 3 example: what node (1,1) sends along its row, round by round",
          "[product]") {
  const Rounds rounds = square_rounds(best_exchange(Graph::ring(3), Ports::all));
  REQUIRE(rounds.size() == 3);
  const std::vector<std::vector<Rank>> expected{{4, 8}, {7, 5}, {1, 2}};  // row-major from 0
  for (std::size_t r = 0; r < 3; ++r) {
    const Exchange& row = rounds[r].exchanges[1];
    REQUIRE(row.axis.stride == 1);
    for (Rank l = 1; l < 3; ++l) {
      const auto block = row.block(0, l, 0);
      CHECK(block->source == 0);
      CHECK(block->destination == expected[r][l - 1]);
    }
  }
}

TEST_CASE("erratum 1: offsets that rotate modulo n are no exchange", "[product][mutant]") {
  const Graph ring = Graph::ring(4);
  const Rank n = 4;
  Rounds rounds = square_rounds(best_exchange(ring, Ports::all));
  const auto rotated = [](Rank l, Rank r) { return mod(l + r - 1, n); };
  for (Rank r = 1; r < n; ++r) {
    rounds[r - 1].exchanges[1].block = [=](Rank node, Rank x, Rank) {
      const Rank l = mod(x - node, n);
      return Block{node, mod(node / n + rotated(l, r), n) * n + x};
    };
  }
  CHECK_FALSE(fault(expand(16, rounds), whole(network("torus:4x4")), Ports::all).empty());
}

TEST_CASE("erratum 2: six nodes in a ring do not meet the cut exactly, nor do their squares by A3",
          "[product]") {
  const CheckResult ring = checked_by("product-multiport", "ring:6");
  CHECK(ring.report.startups == 5);
  CHECK(ring.lower_bound.exact == Rational(9, 2));
  CHECK(ring.lower_bound.startups == 4.5);
  CHECK(ring.lower_bound.source == "cut (4)");
  CHECK(ring.bound_met() == false);
  CHECK(ring.optimal() == true);  // 5 = 4.5, rounded up
  for (const auto& [text, multiport, bound] :
       {std::tuple("torus:6x6", 30U, 27), std::tuple("torus:10x10", 130U, 125)}) {
    const CheckResult square = checked_by("product-multiport", text);
    CHECK(square.report.startups == multiport);
    CHECK(square.lower_bound.exact == Rational(bound));
    CHECK(square.bound_met() == false);
    CHECK(square.optimal() == false);
    const CheckResult general = checked_by("product-multiport-general", text);
    CHECK(general.report.startups == static_cast<std::size_t>(bound));
    CHECK(general.bound_met() == true);
    CHECK(general.optimal() == true);
  }
  for (const char* text : {"torus:4x4", "torus:5x5", "torus:8x8", "mesh:4x4", "ghc:4x4",
                           "hypercube:4", "mesh:3x3x3x3"}) {
    CHECK(checked_by("product-multiport", text).bound_met() == true);
  }
}

TEST_CASE("erratum 3: a ring of two is one cable", "[product]") {
  for (const char* name : {"product", "product-multiport", "product-multiport-general"}) {
    const CheckResult result = checked_by(name, "ring:2");
    CHECK(result.report.startups == 1);
    CHECK(result.lower_bound.exact == Rational(1));
    CHECK(result.bound_met() == true);
  }
}

TEST_CASE("a bound on transmission above what is counted fails", "[flows][mutant]") {
  static double more;
  Algorithm mutant = find_algorithm(operations::alltoall, "rotated");
  mutant.bound = [](const Setting& setting, Ports ports) {
    LowerBound bound = lower_bound(operations::alltoall, setting.topology, ports);
    *bound.transmission_blocks += more;
    return bound;
  };
  for (more = -1; more <= 1; ++more) {  // it meets the bound
    const CheckResult result =
        check_collective(Collective(mutant), network("torus:4x5"), {.all_port = true});
    CHECK(result.passed() == (more <= 0));
    if (more > 0) {
      CHECK_THAT(
          result.failures.front(),
          Catch::Contains("transmission with contention: counted 12, fewer than the bound 13"));
    }
  }
}

TEST_CASE("erratum 4: bounds are rationals, and one off is noticed", "[product][mutant]") {
  CHECK(theory::average_status(network("line:4")) == Rational(5));
  CHECK(theory::average_status(network("mesh:3x4")) == Rational(77, 3));
  // Bounds one too high are below what was counted; one too low are not met any more.
  static int off;
  for (const char* name : {"product", "product-multiport-general"}) {
    Algorithm mutant = find_algorithm(operations::alltoall, name);
    mutant.bound = [](const Setting& setting, Ports ports) {
      LowerBound bound = product_bound(setting, ports);
      bound.exact = *bound.exact + Rational(off);
      return bound;
    };
    const CheckOptions options{.all_port = mutant.ports == Ports::all};
    for (off = -1; off <= 1; ++off) {
      const CheckResult result =
          check_collective(Collective(mutant), network("torus:4x3x3"), options);
      CAPTURE(name, off);
      CHECK(result.bound_met() == (off == 0));
      CHECK(result.optimal() == (off == 0));
      CHECK(result.passed() == (off <= 0));
      if (off > 0) CHECK_THAT(result.failures.front(), Catch::Contains("fewer than the bound"));
    }
  }
}

TEST_CASE("erratum 5: paths and meshes do not reach the average status with one port",
          "[product]") {
  for (Rank n = 3; n <= 24; ++n) {
    const Topology line({Graph::line(n)});
    const CheckResult result = checked_by("product", line);
    CHECK(theory::average_status(line) < rational(result.report.startups));
    CHECK(result.bound_met() == true);  // of the bound of trees
    CHECK(result.lower_bound.source == "tree");
  }
  for (const char* mesh : {"mesh:3x3", "mesh:4x4", "mesh:5x5", "mesh:3x2"}) {
    CHECK(checked_by("product", mesh).optimal() == false);
  }
  // The whole mesh as one graph does better than A2.
  const Adjacency mesh = whole(network("mesh:3x3"));
  CHECK(fault(greedy_one_port(mesh), mesh, Ports::one).empty());
  CHECK(greedy_one_port(mesh).steps() == 20);
  for (const char* cayley :
       {"torus:4x4", "torus:3x5x2", "ghc:4x3", "hypercube:5", "mesh:2x2x2", "ring:6*complete:5"}) {
    CHECK(checked_by("product", cayley).bound_met() == true);
  }
}

TEST_CASE("erratum 6: the square's exchange needs all ports", "[product]") {
  const Topology torus = network("torus:4x4");
  const ExchangeTemplate exchange = expand(16, product_multiport_rounds(torus));
  CHECK(fault(exchange, whole(torus), Ports::all).empty());
  CHECK_FALSE(fault(exchange, whole(torus), Ports::one).empty());
  // The checker of schedules finds it, too.
  const CheckResult one_port =
      check_collective(exchange_named("product-multiport"), torus, {.all_port = false});
  CHECK(one_port.report.port_violations > 0);
  CHECK_FALSE(one_port.passed());
}

TEST_CASE("check takes the largest bound that holds, and other algorithms have none in steps",
          "[product]") {
  // Two complete graphs, one cable between them: 64 blocks each way.
  std::vector<std::pair<Rank, Rank>> edges{{0, 8}};
  for (Rank u = 0; u < 8; ++u) {
    for (Rank v = u + 1; v < 8; ++v) edges.insert(edges.end(), {{u, v}, {8 + u, 8 + v}});
  }
  const Topology barbell({Graph::arbitrary(16, edges, "barbell")});
  CHECK(checked_by("product", barbell).lower_bound.exact == Rational(64));
  CHECK(checked_by("product", barbell).lower_bound.source == "cut (4)");
  CHECK(checked_by("product", "star:6").lower_bound.exact == Rational(5 + 20));
  CHECK(checked_by("product", "star:6").lower_bound.source == "tree");
  const CheckResult shift = check_collective(exchange_named("shift"), network("ring:6"));
  CHECK_FALSE(shift.lower_bound.exact);
  CHECK_FALSE(shift.bound_met());
  CHECK_FALSE(shift.optimal());
  // A total exchange by any routes: what crosses the worst cut, for graphs from tables, too.
  const auto transmission = [](const Topology& topology) {
    return lower_bound(operations::alltoall, topology, Ports::all).transmission_blocks;
  };
  CHECK(transmission(barbell) == 64);
  CHECK(transmission(network("star:6")) == 5);
  CHECK(transmission(network("ring:8*tree:8")) == 64 * 16 / 8);
}

TEST_CASE("mutant: a product that skips a phase, or has a wrong template, is caught",
          "[product][mutant]") {
  const Topology torus = network("torus:4x3");
  const Rounds rounds = product_rounds(torus);
  REQUIRE(rounds.size() == 4 + 3);
  CHECK(fault(expand(12, rounds), whole(torus), Ports::one).empty());
  for (std::size_t skipped = 0; skipped < rounds.size(); ++skipped) {
    Rounds mutant = rounds;
    mutant.erase(mutant.begin() + static_cast<std::ptrdiff_t>(skipped));
    CHECK_FALSE(fault(expand(12, mutant), whole(torus), Ports::one).empty());
  }
  // As a node program: what a node does not hold it cannot send; what nobody sends stays away.
  Rounds phase(rounds.begin() + 4, rounds.end());
  CHECK_THROWS_AS(make_plan(0, phase), std::logic_error);
  phase.assign(rounds.begin(), rounds.begin() + 4);
  const auto passes = [&](const Rounds& some) {
    static const Rounds* followed;
    followed = &some;
    Algorithm algorithm = find_algorithm(operations::alltoall, "product");
    algorithm.program = [](Node& node, const Call& call) {
      run(node, *followed, make_plan(node.rank(), *followed), call.input, call.output);
    };
    return check_collective(Collective(algorithm), torus).passed();
  };
  CHECK(passes(rounds));
  CHECK_FALSE(passes(phase));
  // Two sources exchanged in one template.
  auto steps = steps_of(*rounds.back().exchanges.front().exchange);
  std::swap(steps[0][0].source, steps[0][1].source);
  Rounds mutant = rounds;
  mutant.back().exchanges.front().exchange = std::make_shared<const ExchangeTemplate>(4, 1, steps);
  CHECK_FALSE(fault(expand(12, mutant), whole(torus), Ports::one).empty());
  CHECK_THROWS_AS(passes(mutant), NodeFailure);
}

TEST_CASE("products that do not fit are refused in words that help", "[product]") {
  const auto text = [](const char* name, const char* topology) {
    return refusal(exchange_named(name), network(topology)).value_or("");
  };
  CHECK(
      text("product", "tree:4*ring:3") ==
      "product: every vertex must be a node; the inner vertices of tree:4 only switch; use shift, "
      "or the network binary-tree:7, all of whose vertices are nodes");
  CHECK(text("product", "ring:288").empty());
  CHECK(text("product", "ring:289") ==
        "product: dimension 0 is ring:289, whose exchange takes 6034320 hops in all; the limit is "
        "6000000, because each hop is stored; use shift");
  CHECK(text("product", "star-graph:6*line:2").empty());
  CHECK(text("product", "star:129") ==
        "product: dimension 0 is star:129, of 129 nodes; a graph without a known group may have at "
        "most 128, because every step visits all blocks; use shift");
  CHECK(text("product-multiport", "ccc:5") ==
        "product-multiport: dimension 0 is ccc:5, of 160 nodes; a graph without a closed form may "
        "have at most 128, because every step visits all blocks; use shift");
  CHECK(text("product-naive", "ring:4*ring:65") ==
        "product-naive: dimensions after the first may have at most 64 nodes, because their blocks "
        "move one at a time; ring:4*ring:65 has 65; use product");
  CHECK(text("product-multiport", "torus:4x4x4") ==
        "product-multiport: needs 1, 2, 4, 8, .. dimensions; torus:4x4x4 has 3; use "
        "product-multiport-general");
  CHECK(text("product-multiport", "torus:4x5") ==
        "product-multiport: all dimensions must be the same graph; torus:4x5 has ring:4 and "
        "ring:5; use product-multiport-general");
  CHECK(text("product-multiport-general", "torus:4x5").empty());
}

TEST_CASE("networks of one name but other edges have plans of their own", "[product]") {
  const Topology path({Graph::arbitrary(3, {{0, 1}, {1, 2}}, "graph"), Graph::line(2)});
  const Topology star({Graph::arbitrary(3, {{0, 1}, {0, 2}}, "graph"), Graph::line(2)});
  for (const Topology& topology : {path, star, path}) {
    const auto rounds = kept_rounds(product_rounds, topology);
    CHECK(fault(expand(6, *rounds), whole(topology), Ports::one).empty());
  }
}
