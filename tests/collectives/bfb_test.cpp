// Breadth-first broadcast: loads and splits of one step, laws of whole plans.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bfb_split.hpp"
#include "wormcube/collectives/kit/shortest_paths.hpp"
#include "wormcube/runtime/topology/distances.hpp"
#include "wormcube/tests/collectives/cases.hpp"

#include <bit>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

/// The largest of blocks / links over all sets of neighbours, by trying each.
BfbLoad largest_load(const std::vector<BfbArrivals>& arrivals, int neighbours) {
  BfbLoad largest;
  for (std::uint64_t set = 1; set < std::uint64_t{1} << neighbours; ++set) {
    BfbLoad load{0, std::popcount(set)};
    for (const BfbArrivals& each : arrivals) {
      if ((each.from & ~set) == 0) load.blocks += each.blocks;
    }
    if (load.blocks * largest.links > largest.blocks * load.links) largest = load;
  }
  return largest;
}

std::vector<BfbArrivals> random_arrivals(std::mt19937& random, int neighbours) {
  std::map<std::uint64_t, std::int64_t> found;
  for (int i = 0, sets = 1 + static_cast<int>(random() % 12); i < sets; ++i)
    found[1 + random() % ((std::uint64_t{1} << neighbours) - 1)] += 1 + random() % 9;
  std::vector<BfbArrivals> arrivals;
  for (const auto& [from, blocks] : found) arrivals.push_back({from, blocks});
  return arrivals;
}

Prediction predicted(Operation operation, const char* algorithm, const Topology& topology) {
  Arguments arguments;
  if (operation->reduces) arguments.reduction = find_reduction("sum", "int32");
  return cases::collective_of(operation, algorithm, arguments).predict(topology);
}

/// A connected graph: a random tree and some more edges.
Topology random_graph(std::mt19937& random, Rank nodes) {
  std::vector<std::pair<Rank, Rank>> edges;
  const auto below = [&](Rank n) { return static_cast<Rank>(random() % static_cast<unsigned>(n)); };
  for (Rank v = 1; v < nodes; ++v) edges.emplace_back(below(v), v);
  for (Rank more = below(2 * nodes); more > 0; --more) {
    const std::pair edge = std::minmax({below(nodes), below(nodes)});
    if (edge.first != edge.second &&
        std::ranges::find(edges, std::pair<Rank, Rank>(edge)) == edges.end())
      edges.emplace_back(edge);
  }
  return Topology({Graph::arbitrary(nodes, edges, "random")});
}

}  // namespace

TEST_CASE("the least load of the busiest link is the largest of all sets of links", "[bfb]") {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    const int neighbours = 1 + i % 8;
    const std::vector<BfbArrivals> arrivals = random_arrivals(random, neighbours);
    const BfbLoad load = bfb_load(arrivals), expected = largest_load(arrivals, neighbours);
    CHECK(load.blocks * expected.links == expected.blocks * load.links);
  }
}

TEST_CASE("a split gives each block its parts, from neighbours that have it, within the load",
          "[bfb]") {
  std::mt19937 random(2);
  for (int i = 0; i < 400; ++i) {
    const std::vector<BfbArrivals> arrivals = random_arrivals(random, 1 + i % 8);
    const BfbLoad load = bfb_load(arrivals);
    const std::int64_t parts = 1 + i % 60,
                       most = (parts * load.blocks + load.links - 1) / load.links;
    std::vector<std::int64_t> from_neighbour(8, 0);
    const auto split = bfb_split(arrivals, parts, most);
    REQUIRE(split.size() == arrivals.size());
    for (std::size_t a = 0; a < arrivals.size(); ++a) {
      std::int64_t sum = 0;
      for (std::size_t w = 0; w < split[a].size(); ++w) {
        sum += split[a][w];
        from_neighbour[w] += split[a][w];
        if ((arrivals[a].from >> w & 1U) == 0) CHECK(split[a][w] == 0);
      }
      CHECK(sum == arrivals[a].blocks * parts);
    }
    CHECK(std::ranges::max(from_neighbour) == most);
  }
}

TEST_CASE("bfb takes as many steps as the diameter, and twice for an all-reduce", "[bfb]") {
  std::mt19937 random(3);
  for (int i = 0; i < 30; ++i) {
    const Topology graph = random_graph(random, 2 + i);
    const Prediction gathers = predicted(operations::allgather, "bfb", graph),
                     scatters = predicted(operations::reduce_scatter, "bfb", graph),
                     reduces = predicted(operations::allreduce, "bfb", graph);
    CHECK(*gathers.startups == theory::eccentricities(graph)->most);
    CHECK(scatters.startups == gathers.startups);
    CHECK(scatters.transmission_blocks == gathers.transmission_blocks);
    CHECK(*reduces.startups == 2 * *gathers.startups);
    CHECK(*reduces.transmission_blocks == Approx(2 * *gathers.transmission_blocks / graph.nodes()));
  }
}

TEST_CASE("bfb on a graph does not depend on the numbers of its nodes", "[bfb]") {
  const std::vector<std::pair<Rank, Rank>> edges{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4},
                                                 {3, 5}, {4, 5}, {5, 6}, {6, 0}, {6, 7}};
  const auto blocks_of = [&](const std::vector<Rank>& numbers) {
    std::vector<std::pair<Rank, Rank>> renamed;
    for (const auto& [a, b] : edges)
      renamed.emplace_back(numbers[static_cast<std::size_t>(a)],
                           numbers[static_cast<std::size_t>(b)]);
    const Topology graph({Graph::arbitrary(8, renamed, "renamed")});
    return *predicted(operations::allgather, "bfb", graph).transmission_blocks;
  };
  std::vector<Rank> numbers(8);
  std::iota(numbers.begin(), numbers.end(), 0);
  const double blocks = blocks_of(numbers);
  std::mt19937 random(4);
  for (int i = 0; i < 20; ++i) {
    std::ranges::shuffle(numbers, random);
    CHECK(blocks_of(numbers) == blocks);
  }
}

TEST_CASE("segments bring bfb on meshes nearer to the bound", "[bfb]") {
  for (const auto& [network, bound] : {std::pair("mesh:7x12", 41.5), std::pair("mesh:5x7", 17.0),
                                       std::pair("mesh:3x4x5", 59.0 / 3)}) {
    const Topology mesh = Topology::parse(network);
    double last = 1e9;
    for (const char* const algorithm : {"bfb", "bfb:segments=2", "bfb:segments=4", "bfb:segments=8",
                                        "bfb:segments=16", "bfb:segments=32"}) {
      const double blocks = *predicted(operations::allgather, algorithm, mesh).transmission_blocks;
      CHECK(blocks >= bound - 1e-9);
      CHECK(blocks <= last + 1e-9);
      last = blocks;
    }
    CHECK(last < 1.02 * bound);
  }
}

TEST_CASE("links of one colour leave a node once and enter it once", "[bfb]") {
  std::mt19937 random(5);
  for (int i = 0; i < 40; ++i) {
    const Topology graph = random_graph(random, 2 + i);
    const ShortestPaths paths(graph);
    const LinkColours colours(paths);
    int most_ports = 0;
    std::set<std::pair<Rank, int>> leave, enter;
    for (Rank u = 0; u < paths.nodes(); ++u) {
      most_ports = std::max(most_ports, static_cast<int>(paths.neighbours(u).size()));
      for (std::size_t lane = 0; lane < paths.neighbours(u).size(); ++lane) {
        const int colour = colours.of(u, lane);
        CHECK((colour >= 0 && colour < colours.count()));
        CHECK(leave.emplace(u, colour).second);
        CHECK(enter.emplace(paths.neighbours(u)[lane], colour).second);
      }
    }
    CHECK(colours.count() == most_ports);
  }
}
