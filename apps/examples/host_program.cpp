// A host program that makes one machine and runs it many times: repeated matrix transposes.
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

  // A new machine starts its nodes, which sleep between calls of run(). With many more nodes than
  // cores, fibers are cheaper than threads.
  Machine machine(Topology::parse("torus:4x4"), {.executor = ExecutorKind::fibers});

  // The host chooses the collective once: the cheapest one that applies to this network, for blocks
  // of eight bytes with the default cost model. In its first call each node computes index tables
  // and routes, which depend only on the network, and keeps them.
  const Collective exchange = cheapest({.operation = operations::alltoall,
                                        .topology = machine.topology(),
                                        .block_bytes = sizeof(std::int64_t)});
  std::fprintf(stderr, "%s on %s\n", exchange.text().c_str(), machine.topology().name().c_str());

  // A p x p matrix; node r has row r. With blocks of one element, a total exchange is a transpose.
  using Row = std::vector<std::int64_t>;
  std::vector<Row> matrix(p, Row(p)), transposed(p, Row(p));
  for (Rank r = 0; r < p; ++r) std::iota(matrix[r].begin(), matrix[r].end(), std::int64_t{r} * p);

  std::uint64_t steps = 0;
  for (int i = 0; i < times; ++i) {
    // The host changes the data only between runs; the nodes use it during a run.
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
  std::printf("%d transposes correct\n", times);
  std::fprintf(stderr, "%llu steps\n", static_cast<unsigned long long>(steps));

  // A wrong call throws before any message is sent, and the machine can run again.
  try {
    machine.run([&](Node& node) { exchange(node, Row(p), Row(p - 1)); });
  } catch (const UsageError& error) {
    std::printf("refused: %s\n", error.what());
  }
  return 0;
}
