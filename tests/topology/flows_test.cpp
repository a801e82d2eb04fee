// Bounds by cuts and flows: closed forms, all cuts and all partitions of small networks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/flows.hpp"

#include "wormcube/tests/topology/samples.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <random>

#include <catch2/catch.hpp>

using namespace wormcube;
using theory::LinkBound;

namespace {

Topology network_of(const std::string& text) { return Topology::parse(text); }

/// Two rings of n that one cable joins.
Topology barbell(Rank n) {
  std::vector<std::pair<Rank, Rank>> edges{{0, n}};
  for (Rank v = 0; v < n; ++v) {
    edges.emplace_back(v, (v + 1) % n);
    edges.emplace_back(n + v, n + (v + 1) % n);
  }
  return Topology({Graph::arbitrary(2 * n, edges, "barbell")});
}

Topology random_network(Rank n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank v = 1; v < n; ++v) edges.emplace_back(static_cast<Rank>(random() % v), v);
  for (int i = 0; i < n; ++i) {
    const auto u = static_cast<Rank>(random() % n), v = static_cast<Rank>(random() % n);
    const std::pair<Rank, Rank> edge = std::minmax(u, v);
    if (u != v && std::ranges::count(edges, edge) == 0) edges.push_back(edge);
  }
  return Topology({Graph::arbitrary(n, edges, "random")});
}

/// Small networks of nodes alone: of every kind, and random ones.
std::vector<Topology> small_networks(Rank most) {
  std::vector<Topology> all{barbell(3)};
  for (const std::string& text : samples::texts()) all.push_back(network_of(text));
  for (const char* const text : {"torus:3x3~0-1", "mesh:3x3~4", "mesh:3x3~0-1", "line:2*star:4"}) {
    all.push_back(network_of(text));
  }
  for (unsigned seed = 0; seed < 12; ++seed) all.push_back(random_network(6, seed));
  std::erase_if(all, [=](const Topology& topology) {
    return topology.nodes() == 1 || topology.nodes() > most || theory::excludes(topology);
  });
  return all;
}

/// The links out of a part of the nodes.
std::int64_t links_out(const Topology& topology, unsigned part) {
  std::int64_t links = 0;
  for (Link link = 0; link < topology.links(); ++link) {
    const auto [from, to] = topology.link_ends(link);
    links += (part >> from & 1) != 0 && (part >> to & 1) == 0 ? 1 : 0;
  }
  return links;
}

/// The largest of what lies in a part, `blocks(part)`, over the links out of it.
double of_all_cuts(const Topology& topology, const std::function<double(unsigned)>& blocks) {
  double most = 0;
  for (unsigned part = 1; part + 1 < 1U << topology.nodes(); ++part) {
    most = std::max(most, blocks(part) / static_cast<double>(links_out(topology, part)));
  }
  return most;
}

/// The largest (k - 1) / cables of all partitions into k parts.
double of_all_partitions(const Topology& topology) {
  const Rank n = topology.nodes();
  std::vector<Rank> part(n, 0);
  double most = 0;
  const std::function<void(Rank, Rank)> put = [&](Rank v, Rank parts) {
    if (v < n) {
      for (part[v] = 0; part[v] <= parts; ++part[v]) put(v + 1, std::max(parts, part[v] + 1));
      return;
    }
    double links = 0;
    for (Link link = 0; link < topology.links(); ++link) {
      const auto [from, to] = topology.link_ends(link);
      links += part[from] != part[to] ? 1 : 0;
    }
    if (parts > 1) most = std::max(most, 2 * (parts - 1) / links);
  };
  put(0, 0);
  return most;
}

}  // namespace

TEST_CASE("bounds of links in closed form", "[flows]") {
  struct Row {
    const char* network;
    double broadcast, allgather, allreduce, alltoall;
  };
  for (const Row& row : {Row{"ring:1", 0, 0, 0, 0}, Row{"ring:2", 1, 1, 1, 1},
                         Row{"ring:7", 1.0 / 2, 6.0 / 2, 6.0 / 7, 6},
                         Row{"ring:8", 1.0 / 2, 7.0 / 2, 7.0 / 8, 8}, Row{"line:5", 1, 4, 1, 6},
                         Row{"star:8", 1, 7, 1, 7}, Row{"complete:8", 1.0 / 7, 1, 7.0 / 28, 1},
                         Row{"torus:8x8", 1.0 / 4, 63.0 / 4, 63.0 / 128, 64},
                         Row{"torus:4x8", 1.0 / 4, 31.0 / 4, 31.0 / 64, 32},
                         Row{"torus:4x4x4", 1.0 / 6, 63.0 / 6, 63.0 / 192, 32},
                         Row{"mesh:4x4", 1.0 / 2, 15.0 / 2, 15.0 / 24, 16},
                         Row{"hypercube:6", 1.0 / 6, 63.0 / 6, 63.0 / 192, 32},
                         Row{"ghc:4x3", 1.0 / 5, 11.0 / 5, 11.0 / 30, 4},
                         Row{"petersen", 1.0 / 3, 9.0 / 3, 9.0 / 15, 5},
                         // Shorter ways than a torus' of the same sides: the sum of distances.
                         Row{"twisted:4x8", 1.0 / 4, 31.0 / 4, 31.0 / 64, 21},
                         Row{"star-graph:4", 1.0 / 3, 23.0 / 3, 23.0 / 36, 62.0 / 3}}) {
    INFO(row.network);
    const Topology topology = network_of(row.network);
    const auto is = [](const LinkBound& bound, double blocks) {
      CHECK(bound.blocks == Approx(blocks));
      CHECK(bound.tight);
    };
    is(theory::broadcast_bound(topology), row.broadcast);
    is(theory::allgather_bound(topology), row.allgather);
    is(theory::allreduce_bound(topology), row.allreduce);
    is(theory::exchange_bound(topology), row.alltoall);
  }
  // Leaves alone are nodes: switches are parted as it suits.
  const Topology tree = network_of("tree:8");
  CHECK(theory::edge_connectivity(tree) == 1);
  CHECK(theory::allgather_bound(tree).blocks == 7);
  CHECK(theory::exchange_bound(tree).blocks == 16);
  CHECK(theory::edge_connectivity(network_of("tree:4*ring:4")) == 3);
}

TEST_CASE("bounds of links are those of all cuts, and of all partitions", "[flows]") {
  for (const Topology& topology : small_networks(10)) {
    const Rank n = topology.nodes();
    INFO(topology.name() << ", " << topology.links() << " links");
    CHECK(theory::broadcast_bound(topology).blocks ==
          Approx(of_all_cuts(topology, [](unsigned) { return 1; })));
    CHECK(theory::allgather_bound(topology).blocks ==
          Approx(of_all_cuts(topology, [](unsigned part) { return std::popcount(part); })));
    // From every third node, to all; and each node's own to one.
    std::vector<std::int64_t> blocks(n, 0);
    unsigned sources = 0;
    for (Rank v = 0; v < n; v += 3) blocks[v] = 1, sources |= 1U << v;
    const LinkBound some = theory::gathering_bound(topology, blocks);
    CHECK(some.tight);
    CHECK(some.blocks == Approx(of_all_cuts(topology, [=](unsigned part) {
            return std::popcount(part & sources);
          })));
    std::ranges::fill(blocks, 1);
    for (Rank to = 0; to < n; to += 2) {
      CHECK(theory::gathering_bound(topology, blocks, to).blocks ==
            Approx(of_all_cuts(topology, [=](unsigned part) {
              return (part >> to & 1) != 0 ? 0 : std::popcount(part);
            })));
    }
  }
  for (const Topology& topology : small_networks(8)) {
    INFO(topology.name() << ", " << topology.links() << " links");
    const LinkBound bound = theory::allreduce_bound(topology);
    CHECK(bound.blocks == Approx(of_all_partitions(topology)));
    CHECK(bound.tight);
  }
}

TEST_CASE("a bottleneck bounds what ports would allow", "[flows]") {
  const Topology topology = barbell(8);  // each ring's 8 blocks over one cable
  CHECK(theory::edge_connectivity(topology) == 1);
  const LinkBound gathering = theory::allgather_bound(topology);
  CHECK(gathering.blocks == 8);
  CHECK(gathering.source == "max-flow");
  CHECK(gathering.tight);
  CHECK(theory::exchange_bound(topology).blocks == 64);
  CHECK(theory::allreduce_bound(topology).blocks == 1);
  // With a second one two nodes are left: a weaker part of a network that is not the weakest cut.
  const Topology damaged = network_of("torus:4x4~0-1~0-3~0-4");
  CHECK(theory::edge_connectivity(damaged) == 1);
  CHECK(theory::broadcast_bound(damaged).blocks == 1);
  CHECK(theory::allgather_bound(damaged).blocks == 15);
}

TEST_CASE("the exchange of a product is that of its dimensions", "[flows]") {
  for (const Topology& topology : small_networks(20)) {
    INFO(topology.name());
    // As one graph, where nothing is known of dimensions.
    std::vector<std::pair<Rank, Rank>> edges;
    for (Link link = 0; link < topology.links(); ++link) {
      const auto [from, to] = topology.link_ends(link);
      if (from < to) edges.emplace_back(from, to);
    }
    const Topology graph({Graph::arbitrary(topology.nodes(), edges, "graph")});
    const LinkBound whole = theory::exchange_bound(graph), parts = theory::exchange_bound(topology);
    CHECK(parts.blocks >= whole.blocks * (1 - 1e-9));  // the cuts of the whole are some of all
    CHECK(parts.blocks >= theory::cut_bound(topology).steps.value() * (1 - 1e-9));
    if (whole.tight && parts.tight) CHECK(parts.blocks == Approx(whole.blocks));
    CHECK(theory::edge_connectivity(graph) == theory::edge_connectivity(topology));
  }
}

TEST_CASE("networks too large for flows have bounds that hold", "[flows]") {
  const Topology large = network_of("torus:36x36~0-1"), whole = network_of("torus:36x36");
  CHECK_FALSE(theory::edge_connectivity(large).has_value());
  const LinkBound broadcast = theory::broadcast_bound(large),
                  gathering = theory::allgather_bound(large),
                  reducing = theory::allreduce_bound(large);
  CHECK(broadcast.blocks == Approx(1.0 / 3));  // by the ports of an end of the missing cable
  CHECK(gathering.blocks == Approx(1295.0 / 3));
  CHECK(reducing.blocks >= theory::allreduce_bound(whole).blocks);
  CHECK_FALSE((broadcast.tight || gathering.tight || reducing.tight));
  CHECK(theory::allgather_bound(whole).tight);
}
