// Times of calls on this computer.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/measured.hpp"

#include "wormcube/collectives/harness/run.hpp"

namespace wormcube::cli {

MeasuredTimes::Answer MeasuredTimes::operator()(const Collective& collective, Bytes bytes,
                                                bool all_port) {
  auto& machine = machines_[all_port];
  if (!machine) {
    machine = std::make_unique<Machine>(topology_, machine_.resolve(context_, all_port));
  }
  CollectiveRun run;
  run.block_bytes = bytes;
  run.iterations = iterations_;
  const RunResult result = run_collective(*machine, collective, run);
  if (!result.passed()) return {{}, "WRONG: " + result.first_wrong};
  return {result.min_us, {}};
}

}  // namespace wormcube::cli
