// The benchmarks, layer by layer: channel, message, collectives, applications, recording.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/bench/bench.hpp"

#include <benchmark/benchmark.h>

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  wormcube::register_collective_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
