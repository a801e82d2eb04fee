// Product networks on real nodes: every byte arrives, and traces equal the dry run's record, whatever
// the factors, on all executors and port models.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/tests/cli/program.hpp"

#include <array>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

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

/// All exchanges that the product admits, on machines of one port and of all ports.
void require_runs(const Topology& topology, NodesAs nodes_as) {
  for (const char* name : {"product", "product-multiport", "product-multiport-general"}) {
    const Collective collective(find_algorithm(operations::alltoall, name));
    if (refusal(collective, topology)) continue;
    const bool needs_all = collective.algorithm->ports == Ports::all;
    for (const bool all_port : {false, true}) {
      if (needs_all && !all_port) continue;
      CAPTURE(topology.name(), name, all_port, nodes_as == NodesAs::threads);
      Machine machine(topology, {.nodes_as = nodes_as, .all_port = all_port});
      constexpr Bytes bytes = 13;
      const RunResult result =
          run_collective(machine, collective, {.block_bytes = bytes, .iterations = 2, .warmup = 0});
      INFO(result.first_wrong);
      CHECK(result.wrong == 0U);

      const Contract contract = contract_of(collective, topology.nodes(), bytes, 1);
      const Program program = collective_program(collective, contract, nullptr);
      Schedule trace{topology, {}};
      machine.run(program, trace);
      CHECK(trace == record(topology, program));
    }
  }
}

void require_runs(const Topology& topology) {
  for (const NodesAs nodes_as : {NodesAs::threads, NodesAs::fibers}) {
    require_runs(topology, nodes_as);
  }
}

void require_random_runs(unsigned seed, int count, Rank most) {
  const test::TemporaryFile file(".txt");
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    CAPTURE(seed, i);
    const Topology topology = random_product(random, most, file.path());
    require_runs(topology, i % 2 == 0 ? NodesAs::threads : NodesAs::fibers);
  }
}

}  // namespace

TEST_CASE("small products of every kind exchange real blocks, as recorded", "[machine][product]") {
  for (const char* text : {"mesh:4x4", "bubble-sort:3*ring:3", "star-graph:3*line:2",
                           "circulant:8+1+3*complete:3", "cayley:213+231*line:3", "petersen"}) {
    require_runs(Topology::parse(text));
  }
}

TEST_CASE("products of random factors exchange real blocks, as recorded", "[machine][product]") {
  require_random_runs(20231, 10, 40);
}

TEST_CASE("large products of every kind exchange real blocks, as recorded",
          "[.][wide][machine][product]") {
  const test::TemporaryFile file(".txt");
  Random random(3);
  write_graph(file.path(), random, 20, 12);
  for (const std::string& text :
       {std::string("torus:16x16"), std::string("star-graph:4*line:2"),
        std::string("bubble-sort:4*ring:3"), std::string("circulant:12+1+3*complete:5"),
        std::string("cayley:2134+2341*line:3"), std::string("torus:4x4x4x4"),
        "graph:" + file.path() + "*ring:6"}) {
    require_runs(Topology::parse(text));
  }
}

TEST_CASE("large products of random factors exchange real blocks, as recorded",
          "[.][wide][machine][product]") {
  require_random_runs(7, 40, 256);
}
