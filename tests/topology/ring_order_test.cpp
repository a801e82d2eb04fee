// Ring orders: every node once, links shared no more than claimed, and the figures of the rule.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/ring_order.hpp"

#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;

namespace {

using Kind = RingOrder::Kind;

RingOrder order_of(const char* text) { return ring_order(Topology::parse(text)); }

/// Whether it is all nodes, each once.
bool is_permutation(std::vector<Rank> nodes, Rank count) {
  std::ranges::sort(nodes);
  for (Rank r = 0; r < count; ++r) {
    if (nodes[static_cast<std::size_t>(r)] != r) return false;
  }
  return std::ssize(nodes) == count;
}

}  // namespace

TEST_CASE("ring orders worked by hand", "[topology]") {
  using Nodes = std::vector<Rank>;
  CHECK(order_of("mesh:4x3").nodes == Nodes{0, 1, 2, 5, 4, 7, 8, 11, 10, 9, 6, 3});
  CHECK(order_of("mesh:3x3").nodes == Nodes{0, 1, 2, 5, 8, 7, 4, 6, 3});
  CHECK(order_of("hypercube:3").nodes == Nodes{0, 1, 3, 2, 6, 7, 5, 4});
  CHECK(order_of("petersen").nodes == Nodes{0, 1, 2, 3, 4, 9, 6, 8, 5, 7});
  CHECK(order_of("star:8").nodes == Nodes{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(order_of("line:5").nodes == Nodes{0, 1, 2, 3, 4});
  CHECK(order_of("ring:1").nodes == Nodes{0});
}

TEST_CASE("a ring order visits every node once and shares no link", "[topology]") {
  struct Case {
    const char* network;
    Kind kind;
    int longest_hop;
  };
  const auto [network, kind, longest_hop] =
      GENERATE(Case{"ring:7", Kind::cycle, 1}, Case{"torus:3x5", Kind::cycle, 1},
               Case{"torus:8x8", Kind::cycle, 1}, Case{"torus:3x3x3", Kind::cycle, 1},
               Case{"torus:4x4x4", Kind::cycle, 1}, Case{"mesh:5x4", Kind::cycle, 1},
               Case{"mesh:4x5", Kind::cycle, 1}, Case{"mesh:2x3x5", Kind::cycle, 1},
               Case{"hypercube:6", Kind::cycle, 1}, Case{"complete:9", Kind::cycle, 1},
               Case{"ghc:3x5", Kind::cycle, 1}, Case{"ring:5*line:3", Kind::cycle, 1},
               Case{"line:3*ring:5*line:7", Kind::cycle, 1}, Case{"line:2", Kind::cycle, 1},
               Case{"ccc:3", Kind::cycle, 1}, Case{"ccc:4", Kind::cycle, 1},
               Case{"butterfly:3", Kind::cycle, 1}, Case{"star-graph:4", Kind::cycle, 1},
               Case{"star-graph:5", Kind::cycle, 1}, Case{"bubble-sort:4", Kind::cycle, 1},
               Case{"twisted:4x8", Kind::cycle, 1}, Case{"circulant:12+1+3", Kind::cycle, 1},
               Case{"mesh:3x3", Kind::near_cycle, 2}, Case{"mesh:5x7", Kind::near_cycle, 2},
               Case{"mesh:3x5x7", Kind::near_cycle, 2}, Case{"line:6", Kind::line, 5},
               Case{"tree:8", Kind::tour, 6}, Case{"petersen", Kind::search, 2},
               Case{"star:8", Kind::search, 2});
  CAPTURE(network);
  const Topology topology = Topology::parse(network);
  const RingOrder order = ring_order(topology);
  CHECK(is_permutation(order.nodes, topology.nodes()));
  CHECK(order.nodes.front() == 0);
  CHECK(order.load == 1);
  CHECK(order.kind == kind);
  CHECK(order.longest_hop == longest_hop);
}

TEST_CASE("a product with trees is walked with a load of one", "[topology]") {
  for (const char* const network : {"tree:4*line:3", "ring:3*tree:8", "tree:3*tree:5"}) {
    CAPTURE(network);
    const Topology topology = Topology::parse(network);
    const RingOrder order = ring_order(topology);
    CHECK(is_permutation(order.nodes, topology.nodes()));
    CHECK(order.kind == Kind::tour);
    CHECK(order.load == 1);
  }
}

TEST_CASE("a torus has two edge-disjoint Hamiltonian cycles, each in both directions",
          "[topology]") {
  using Nodes = std::vector<Rank>;
  const auto small = disjoint_cycles(Topology::parse("torus:3x4"));
  REQUIRE(small.size() == 4);
  CHECK(small[0] == Nodes{0, 3, 11, 8, 9, 5, 1, 2, 10, 6, 7, 4});
  CHECK(small[2] == Nodes{0, 1, 9, 10, 11, 7, 3, 2, 6, 5, 4, 8});
  for (Rank r = 3; r <= 16; ++r) {
    for (Rank c = 3; c <= 16; ++c) {
      const Topology topology = Topology::parse(fmt::format("torus:{}x{}", r, c));
      CAPTURE(topology.name());
      const auto cycles = disjoint_cycles(topology);
      REQUIRE(cycles.size() == 4);
      const Routing routing(topology);
      std::set<Link> used;
      for (const Nodes& cycle : cycles) {
        REQUIRE(is_permutation(cycle, topology.nodes()));
        REQUIRE(cycle.front() == 0);
        for (std::size_t i = 0; i < cycle.size(); ++i) {
          std::vector<Channel> path;
          routing.route(cycle[i], cycle[(i + 1) % cycle.size()], path);
          REQUIRE(path.size() == 1);
          REQUIRE(used.insert(routing.link(path[0])).second);
        }
      }
      REQUIRE(std::ssize(used) == topology.links());
    }
  }
  CHECK(disjoint_cycles(Topology::parse("ring:5")) ==
        std::vector<Nodes>{{0, 1, 2, 3, 4}, {0, 4, 3, 2, 1}});
  for (const char* const other : {"torus:2x4", "mesh:4x4", "torus:3x3x3", "complete:5", "ring:1"}) {
    CAPTURE(other);
    CHECK(disjoint_cycles(Topology::parse(other)).empty());
  }
}
