// The applications, verified, next to the same work on one core without a network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/run.hpp"
#include "wormcube/apps/transpose/run.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace wormcube;
using namespace wormcube::apps;

void fft(benchmark::State& state, ExecutorKind executor) {
  Machine machine(Topology::parse("torus:4x4"), {.executor = executor});
  FftJob job{
      .signal = generate_signal(SignalKind::random, {static_cast<std::size_t>(state.range(0))}, 1)};
  if (!run_fft(machine, {}, job).passed()) state.SkipWithError("wrong spectrum");
  job.options = {.warmup = 1, .iterations = 5, .verify = false, .check = false};
  for (auto _ : state) {
    state.SetIterationTime(
        std::chrono::duration<double>(run_fft(machine, {}, job).figures.wall).count());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(fft, threads, ExecutorKind::threads)
    ->Arg(1 << 12)
    ->Arg(1 << 20)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fft, fibers, ExecutorKind::fibers)
    ->Arg(1 << 12)
    ->Arg(1 << 20)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

// One core, FFTW alone.
void fft_serial(benchmark::State& state) {
  Machine machine(Topology::parse("ring:1"));
  const FftJob job{
      .signal = generate_signal(SignalKind::random, {static_cast<std::size_t>(state.range(0))}, 1)};
  for (auto _ : state) {
    state.SetIterationTime(
        std::chrono::duration<double>(run_fft(machine, {}, job).serial_wall).count());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(fft_serial)
    ->Arg(1 << 12)
    ->Arg(1 << 20)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

void transpose(benchmark::State& state, ExecutorKind executor) {
  Machine machine(Topology::parse("torus:4x4"), {.executor = executor});
  const auto side = static_cast<std::size_t>(state.range(0));
  TransposeJob job{.matrix = generate_matrix(ElementType::float64, side, side, 1)};
  if (!run_transpose(machine, {}, job).passed()) state.SkipWithError("wrong element");
  job.options = {.warmup = 1, .iterations = 5, .verify = false, .check = false};
  for (auto _ : state) {
    state.SetIterationTime(
        std::chrono::duration<double>(run_transpose(machine, {}, job).figures.wall).count());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(0) * 8);
}
BENCHMARK_CAPTURE(transpose, threads, ExecutorKind::threads)
    ->Arg(256)
    ->Arg(2048)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(transpose, fibers, ExecutorKind::fibers)
    ->Arg(256)
    ->Arg(2048)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
