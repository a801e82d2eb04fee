// Memory-copy limits: the times of exchanges that consist only of their copies.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/bench/bench.hpp"

#include <algorithm>
#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

namespace wormcube {

std::chrono::nanoseconds copy_limit(std::size_t blocks, std::size_t bytes, Copiers copiers_of) {
  using Clock = std::chrono::steady_clock;
  constexpr int threads = 2, rounds = 9;
  std::vector<std::byte> from(blocks * bytes, std::byte{1}), to(blocks * bytes, std::byte{2});
  std::vector<std::chrono::nanoseconds> times;
  std::barrier start(threads + 1), end(threads + 1);
  std::vector<std::thread> copiers;
  for (int thread = 0; thread < threads; ++thread) {
    copiers.emplace_back([&, thread] {
      for (int round = 0; round < rounds; ++round) {
        start.arrive_and_wait();
        for (std::size_t block = 0; block < blocks; ++block) {
          const bool changes = copiers_of == Copiers::half_change && block % 2 == 1;
          const auto first = static_cast<int>(block * threads / blocks);
          if ((first + (changes ? round : 0)) % threads != thread) continue;
          std::memcpy(&to[block * bytes], &from[block * bytes], bytes);
        }
        end.arrive_and_wait();
      }
    });
  }
  for (int round = 0; round < rounds; ++round) {
    start.arrive_and_wait();
    const auto begin = Clock::now();
    end.arrive_and_wait();
    times.push_back(Clock::now() - begin);
  }
  for (std::thread& copier : copiers) copier.join();
  benchmark::DoNotOptimize(to.data());
  std::ranges::nth_element(times, times.begin() + rounds / 2);
  return times[rounds / 2];
}

}  // namespace wormcube

namespace {

// 64 nodes, all to all: 64 x 64 blocks.
void copy_limit_64_nodes(benchmark::State& state, wormcube::Copiers copiers) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    state.SetIterationTime(
        std::chrono::duration<double>(wormcube::copy_limit(64 * 64, bytes, copiers)).count());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * 64 * 64 * bytes));
}
void block_sizes(benchmark::internal::Benchmark* limit) {
  limit->Arg(64)->Arg(4096)->Arg(65536)->UseManualTime()->Iterations(3)->Unit(
      benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(copy_limit_64_nodes, same_core, wormcube::Copiers::same)->Apply(block_sizes);
BENCHMARK_CAPTURE(copy_limit_64_nodes, half_change_cores, wormcube::Copiers::half_change)
    ->Apply(block_sizes);

}  // namespace
