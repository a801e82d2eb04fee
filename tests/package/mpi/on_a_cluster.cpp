// The program of docs/how-to/cluster.md: every node of a torus gets the sum of all ranks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/mpi/machine.hpp"
#include "wormcube/wormcube.hpp"

#include <cstdint>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  using namespace wormcube;
  const MpiSession mpi(argc, argv);
  MpiMachine machine(Topology::parse("torus:4x3"));
  Arguments addition;
  addition.reduction = find_reduction("sum", "int64");
  const Collective allreduce = cheapest({.operation = operations::allreduce,
                                         .topology = machine.topology(),
                                         .block_bytes = sizeof(std::int64_t),
                                         .arguments = addition});
  std::uint64_t right = 0;  // of the nodes in this process
  const Statistics statistics = machine.run([&](Node& node) {
    const std::vector<std::int64_t> mine{node.rank()};
    std::vector<std::int64_t> sum(1);
    allreduce(node, mine, sum);
    node.local([&] { right += sum[0] == 66 ? 1 : 0; });
  });
  machine.sum({&right, 1});
  if (mpi.process() == 0) {
    std::printf("%d processes, %zu nodes, %llu right\n", mpi.processes(), statistics.nodes.size(),
                static_cast<unsigned long long>(right));
  }
  return right == 12 ? 0 : 1;
}
