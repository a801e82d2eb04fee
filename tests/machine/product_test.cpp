// The products' exchanges with real payloads on threads and fibers, whatever the factors.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/tests/machine/support.hpp"
#include "wormcube/tests/temporary_file.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <array>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace {

using namespace wormcube;

/// \param all_port  the machine; a one-port exchange runs on both
void runs(const Topology& topology, const char* name, ExecutorKind executor, bool all_port) {
  const Collective collective(find_algorithm(operations::alltoall, name));
  if (refusal(collective, topology)) return;
  if (collective.algorithm->ports == Ports::all && !all_port) return;
  INFO(name << " on " << topology.name() << ", " << (all_port ? "all ports" : "one port"));
  MachineOptions options = machine_tests::plain(executor);
  options.all_port = all_port;
  Machine machine(topology, options);
  const Contract contract = contract_of(collective, topology.nodes(), 24, 20231, Pattern::tags);
  Verification verification(contract);
  Schedule trace{topology, {}};
  machine.run(collective_program(collective, contract, &verification), trace);
  INFO(verification.first());
  CHECK(verification.passed());
  CHECK(trace == record(topology, collective_program(collective, contract, nullptr)));
}

/// Every exchange that the product admits.
void runs(const Topology& topology, ExecutorKind executor) {
  for (const bool all_port : {false, true}) {
    for (const char* name : {"product", "product-multiport", "product-multiport-general"}) {
      runs(topology, name, executor, all_port);
    }
  }
}

using Random = std::mt19937;

/// A random connected graph as the text of an edge list: a tree and `extra` more edges.
void write_graph(const std::string& file, Random& random, Rank nodes, int extra) {
  std::ofstream out(file);
  std::vector<std::vector<bool>> joined(nodes, std::vector<bool>(nodes, false));
  const auto join = [&](Rank u, Rank v) {
    if (u == v || joined[u][v]) return;
    joined[u][v] = joined[v][u] = true;
    out << u << ' ' << v << '\n';
  };
  for (Rank v = 1; v < nodes; ++v) join(static_cast<Rank>(random() % v), v);
  for (int i = 0; i < extra; ++i) {
    join(static_cast<Rank>(random() % nodes), static_cast<Rank>(random() % nodes));
  }
}

/// A product of one to three factors of any kind, of 4 to `most` nodes.
/// \param file  for a factor from an edge list; it is read before this returns
Topology random_product(Random& random, Rank most, const std::string& file) {
  const auto between = [&](Rank low, Rank high) {
    return low + static_cast<Rank>(random() % static_cast<unsigned>(high - low + 1));
  };
  constexpr std::array families{"circulant:8+1+3", "star-graph:3",     "bubble-sort:3", "petersen",
                                "butterfly:2",     "cayley:2134+2341", "ccc:2",         "star:5"};
  for (;;) {
    std::string text;
    for (Rank left = between(1, 3); left > 0; --left) {
      if (!text.empty()) text += '*';
      switch (random() % 5) {
        case 0:
          text += "ring:" + std::to_string(between(2, 9));
          break;
        case 1:
          text += "line:" + std::to_string(between(2, 8));
          break;
        case 2:
          text += "complete:" + std::to_string(between(2, 7));
          break;
        case 3:
          text += families[random() % families.size()];
          break;
        default: {
          const Rank nodes = between(3, 9);
          write_graph(file, random, nodes, between(0, nodes));
          text += "graph:" + file;
        }
      }
    }
    Topology topology = Topology::parse(text);
    if (topology.nodes() >= 4 && topology.nodes() <= most) return topology;
  }
}

/// On threads and fibers in turn.
void random_products_run(unsigned seed, int count, Rank most) {
  const test::TemporaryFile file(".txt");
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    CAPTURE(seed, i);
    runs(random_product(random, most, file.path()),
         i % 2 == 0 ? ExecutorKind::threads : ExecutorKind::fibers);
  }
}

}  // namespace

TEST_CASE("product exchanges deliver on threads and fibers, and their traces are their records",
          "[machine][product]") {
  const ExecutorKind executor = GENERATE(ExecutorKind::threads, ExecutorKind::fibers);
  std::vector<Topology> networks{
      Topology({samples::petersen(), Graph::ring(4)}),
      Topology({samples::scrambled(6), samples::star(5)}),
      Topology({samples::petersen()}),
  };
  for (const char* text :
       {"ring:5*complete:4*line:3", "torus:6x6", "mesh:3x3", "torus:3x3x3x3", "hypercube:4",
        "ghc:4x4", "line:2*ring:6", "torus:1x4x2", "ccc:3", "butterfly:2*line:3", "mesh:4x4",
        "bubble-sort:3*ring:3", "star-graph:3*line:2", "circulant:8+1+3*complete:3",
        "cayley:213+231*line:3"}) {
    networks.push_back(Topology::parse(text));
  }
  for (const Topology& topology : networks) {
    runs(topology, executor);
    if (topology.nodes() <= 32) runs(topology, "product-naive", executor, false);
  }
}

TEST_CASE("products of random factors deliver, and their traces are their records",
          "[machine][product]") {
  random_products_run(20231, machine_tests::patience > 1 ? 4 : 12, 40);
}

TEST_CASE("product exchanges of up to 256 nodes deliver on threads and fibers",
          "[.wide][machine][product]") {
  const ExecutorKind executor = GENERATE(ExecutorKind::fibers, ExecutorKind::threads);
  const test::TemporaryFile file(".txt");
  Random random(3);
  write_graph(file.path(), random, 20, 12);
  for (const std::string& text :
       {std::string("torus:16x16"), std::string("hypercube:8"), std::string("torus:4x4x4x4"),
        std::string("mesh:16x16"), std::string("ring:8*complete:8*line:4"),
        std::string("ccc:3*ring:5"), std::string("star-graph:4*line:2"),
        std::string("bubble-sort:4*ring:3"), std::string("circulant:12+1+3*complete:5"),
        std::string("cayley:2134+2341*line:3"), "graph:" + file.path() + "*ring:6"}) {
    runs(Topology::parse(text), executor);
  }
}

TEST_CASE("products of random factors of up to 256 nodes deliver", "[.wide][machine][product]") {
  random_products_run(7, 40, 256);
}
