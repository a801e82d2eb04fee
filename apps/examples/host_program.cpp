// A host program that keeps a machine and calls it many times: repeated transposes of a matrix.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include <wormcube/wormcube.hpp>

using namespace wormcube;

int main() {
  constexpr Rank p = 16;
  constexpr int times = 1000;

  // Making a machine starts its nodes; they sleep between two calls of run(). Fibers are cheaper
  // than threads where there are many more nodes than cores.
  Machine machine(Topology::parse("torus:4x4"), {.executor = ExecutorKind::fibers});

  // The collective is chosen once, here on the host: the cheapest one that this network admits, for
  // blocks of eight bytes on the default cost model. What it computes from the network alone (index
  // tables, routes) each node computes in its first call and keeps.
  const Collective exchange = cheapest(operations::alltoall, machine.topology(), CostModel{},
                                       sizeof(std::int64_t), Ports::one);
  std::fprintf(stderr, "%s on %s\n", exchange.text().c_str(), machine.topology().name().c_str());

  // A p x p matrix; node r has row r. With blocks of one element, a total exchange is a transpose.
  using Row = std::vector<std::int64_t>;
  std::vector<Row> matrix(p, Row(p)), transposed(p, Row(p));
  for (Rank r = 0; r < p; ++r) std::iota(matrix[r].begin(), matrix[r].end(), std::int64_t{r} * p);

  std::uint64_t steps = 0;
  for (int i = 0; i < times; ++i) {
    // The host changes the data between two runs, the nodes work on it during a run: never both.
    matrix[0][0] = i;
    const Statistics statistics = machine.run([&](Node& node) {
      const auto r = static_cast<std::size_t>(node.rank());
      exchange(node, matrix[r], transposed[r]);  // any vectors, arrays or spans
    });
    steps += statistics.nodes[0].steps;
  }

  for (Rank r = 0; r < p; ++r) {
    for (Rank q = 0; q < p; ++q) {
      if (transposed[q][r] != matrix[r][q]) return std::printf("wrong at %d,%d\n", q, r), 1;
    }
  }
  std::printf("%d transposes right\n", times);
  std::fprintf(stderr, "%llu steps\n", static_cast<unsigned long long>(steps));

  // Mistakes in a call are refused before any message, and the machine can run again.
  try {
    machine.run([&](Node& node) { exchange(node, Row(p), Row(p - 1)); });
  } catch (const UsageError& error) {
    std::printf("refused: %s\n", error.what());
  }
  return 0;
}
