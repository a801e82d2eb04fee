// Times of calls on this computer.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/measured.hpp"

#include "wormcube/collectives/harness/run.hpp"

#include <cmath>

namespace wormcube {

CallFigures::Answer MeasuredTimes::figure_of(const Collective& collective, Bytes block_bytes,
                                             bool all_port) {
  auto& machine = machines_[all_port];
  if (!machine) {
    MachineOptions options = options_;
    options.all_port = all_port;
    machine = std::make_unique<Machine>(topology(), std::move(options));
  }
  CollectiveRun run;
  run.block_bytes = block_bytes;
  run.iterations = iterations_;
  const RunResult result = run_collective(*machine, collective, run);
  if (!result.passed()) return {{}, "WRONG: " + result.first_wrong};
  constexpr double ps_in_us = 1e6;
  return {std::llround(result.min_us * ps_in_us), {}};
}

}  // namespace wormcube
