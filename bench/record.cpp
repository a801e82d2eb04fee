// Dry runs, checks and proofs: how large a network they can handle.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <string>

#include <benchmark/benchmark.h>

namespace {

using namespace wormcube;

constexpr Bytes tag_bytes = 8;

Contract shift_contract(Rank nodes) {
  return {operations::alltoall, nodes, {}, tag_bytes, 1, Pattern::tags};
}
Program shift_program(Rank nodes, Verification* verification) {
  return collective_program(Collective(find_algorithm(operations::alltoall, "shift")),
                            shift_contract(nodes), verification);
}
Topology torus(std::int64_t side) {
  return Topology::parse("torus:" + std::to_string(side) + "x" + std::to_string(side));
}
std::int64_t messages(std::int64_t side) { return side * side * (side * side - 1); }

void record_shift(benchmark::State& state) {
  const Topology topology = torus(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(record(topology, shift_program(topology.nodes(), nullptr)));
  state.SetItemsProcessed(state.iterations() * messages(state.range(0)));
}
void check_shift(benchmark::State& state) {
  const Topology topology = torus(state.range(0));
  const Schedule schedule = record(topology, shift_program(topology.nodes(), nullptr));
  for (auto _ : state) benchmark::DoNotOptimize(check(schedule, Routing(topology), false));
  state.SetItemsProcessed(state.iterations() * messages(state.range(0)));
}
void prove_shift(benchmark::State& state) {
  const Topology topology = torus(state.range(0));
  bool passed = true;
  for (auto _ : state) {
    Verification verification(shift_contract(topology.nodes()));
    prove(topology, shift_program(topology.nodes(), &verification));
    passed = passed && verification.passed();
  }
  if (!passed) state.SkipWithError("not delivered");
  state.SetItemsProcessed(state.iterations() * messages(state.range(0)));
}
BENCHMARK(record_shift)->Arg(8)->Arg(32)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(check_shift)->Arg(8)->Arg(32)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(prove_shift)->Arg(8)->Arg(32)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
