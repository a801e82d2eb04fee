// Every registered algorithm on real nodes, verified, against the memory-copy limit.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/bench/bench.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/run.hpp"

#include <array>
#include <map>
#include <string>

#include <benchmark/benchmark.h>

namespace wormcube {
namespace {

double limit_us(const RunResult& result, Copiers copiers) {
  // For p x p blocks: each byte of the exchange copied once.
  static std::map<std::pair<Bytes, Copiers>, double> known;
  const auto [entry, is_new] = known.try_emplace({result.block_bytes, copiers});
  if (is_new) {
    const auto blocks =
        static_cast<std::size_t>(result.nodes) * static_cast<std::size_t>(result.nodes);
    entry->second =
        std::chrono::duration<double, std::micro>(copy_limit(blocks, result.block_bytes, copiers))
            .count();
  }
  return entry->second;
}

void collective(benchmark::State& state, const Collective& call, const std::string& topology,
                Bytes bytes, ExecutorKind executor) {
  Machine machine(Topology::parse(topology),
                  {.executor = executor, .all_port = call.algorithm->ports == Ports::all});
  RunResult result;
  for (auto _ : state) {  // one run of 11 iterations and a warm-up; its median counts
    result = run_collective(machine, call, {.block_bytes = bytes, .iterations = 11});
    state.SetIterationTime(result.median_us * 1e-6);
  }
  if (!result.passed()) state.SkipWithError("wrong data");
  if (result.weighed.prediction.startups)
    state.counters["startups"] = *result.weighed.prediction.startups;
  if (result.weighed.prediction.transmission_blocks)
    state.counters["blocks"] = *result.weighed.prediction.transmission_blocks;
  if (result.busbw_gb_per_s) state.counters["busbw_GB/s"] = *result.busbw_gb_per_s;
  if (result.model_us) state.counters["model_us"] = *result.model_us;
  if (call.operation() == operations::alltoall) {
    state.counters["x_copy_limit"] = result.median_us / limit_us(result, Copiers::same);
    state.counters["x_half_change"] = result.median_us / limit_us(result, Copiers::half_change);
  }
}

}  // namespace

void register_collective_benchmarks() {
  constexpr std::array topologies{"hypercube:6", "torus:8x8", "mesh:8x8", "complete:64"};
  constexpr std::array<Bytes, 3> sizes{64, 4096, 65536};
  for (const Algorithm* algorithm : registry()) {
    Arguments arguments;
    if (algorithm->operation->reduces) arguments.reduction = find_reduction("sum", "double");
    const Collective call(*algorithm, arguments);
    for (const std::string topology : topologies) {
      if (refusal(call, Topology::parse(topology))) continue;
      for (const Bytes bytes : sizes) {
        if (!call.operation()->moves_data && bytes != sizes.front()) continue;
        for (const auto& [executor, word] : {std::pair(ExecutorKind::threads, "threads"),
                                             std::pair(ExecutorKind::fibers, "fibers")}) {
          const std::string name = std::string(call.operation()->name) + "/" +
                                   std::string(call.name()) + "/" + topology + "/" +
                                   std::to_string(bytes) + "/" + word;
          benchmark::RegisterBenchmark(
              name.c_str(),
              [call, topology, bytes, as = executor](benchmark::State& state) {
                collective(state, call, topology, bytes, as);
              })
              ->UseManualTime()
              ->Iterations(3)
              ->Unit(benchmark::kMicrosecond);
        }
      }
    }
  }
}

}  // namespace wormcube
