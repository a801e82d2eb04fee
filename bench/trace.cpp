// The cost of tracing a real run: processor time for each slice.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/run_trace.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/machine/machine.hpp"

#include <algorithm>
#include <ctime>
#include <string_view>

#include <benchmark/benchmark.h>

namespace {

using namespace wormcube;

double cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

/// Runs with and without a trace alternate. The result is the difference of the shortest times, per
/// slice. It includes the temporary file, and excludes writing the JSON after the run.
void trace_of_shift(benchmark::State& state) {
  const Topology topology = Topology::parse("hypercube:6");
  MachineOptions options;
  options.executor = ExecutorKind::fibers;
  options.workers = 1;
  const Contract contract{operations::alltoall, topology.nodes(), {}, 64, 1, Pattern::tags};
  const Program program = collective_program(
      Collective(find_algorithm(operations::alltoall, "shift")), contract, nullptr);
  Machine plain(topology, options);
  RunTrace trace(topology, {});
  trace.observe(options);
  Machine seen(topology, options);
  const Program traced = trace.traced(program);
  plain.run(program);
  double least_plain = 1e18, least_traced = 1e18, runs = 0;
  for (auto _ : state) {
    const double begin = cpu_ns();
    plain.run(program);
    const double middle = cpu_ns();
    seen.run(traced);
    const double end = cpu_ns();
    least_plain = std::min(least_plain, middle - begin);
    least_traced = std::min(least_traced, end - middle);
    ++runs;
  }
  const TraceCounts counts = trace.write([](std::string_view) {}, "");
  const double slices = static_cast<double>(counts.events) / runs;
  state.counters["slices"] = slices;
  state.counters["ns_per_slice"] = (least_traced - least_plain) / slices;
}

BENCHMARK(trace_of_shift)->Unit(benchmark::kMillisecond)->Iterations(60);

}  // namespace
