// Choices among algorithms: by formula, by replay on a modelled machine, and why one is faster.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <wormcube/wormcube.hpp>

using namespace wormcube;

int main() {
  const Topology ring = Topology::parse("ring:8");

  // Three lines: the call, the machine, the choice. MachineModel has the constants of the machine.
  const Choice choice{.operation = operations::alltoall, .topology = ring, .block_bytes = 4096};
  ReplayedTimes times(ring, MachineModel{});
  const Collective exchange = times.least(choice).collective;

  std::printf("by formula: %s\n", cheapest(choice).text().c_str());
  std::printf("by replay: %s\n", exchange.text().c_str());
  std::printf("by work: %s\n", least_work(choice).text().c_str());

  Comparison comparison(choice, {"bine", "shift"}, nullptr);
  for (const std::string& line : explain(comparison.at(64), 64, "formula")) {
    std::printf("%s\n", line.c_str());
  }
  return 0;
}
