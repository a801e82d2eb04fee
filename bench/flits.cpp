// Flits: one queue, and a chain of hops, beside a copy of the same bytes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/network/lane.hpp"

#include <cstring>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

using namespace wormcube;

void count_flits(benchmark::State& state, std::int64_t flits) {
  state.SetItemsProcessed(flits);
  state.SetBytesProcessed(flits * static_cast<std::int64_t>(Flit::most_bytes));
}

void flit_queue_one_thread(benchmark::State& state) {
  VirtualChannel channel(0);
  LinkLane lane(channel, static_cast<std::size_t>(state.range(0)), 0, 0, LinkFault::none);
  Flit flit{};
  std::int64_t flits = 0;
  for (auto _ : state) {
    for (; lane.has_room(); ++flits) lane.push(flit, 1);
    for (; lane.has_flits(); lane.pop()) benchmark::DoNotOptimize(lane.front());
  }
  count_flits(state, flits);
}
BENCHMARK(flit_queue_one_thread)->Arg(1)->Arg(4)->Arg(16)->Arg(64);

void flit_queue_two_threads(benchmark::State& state) {
  VirtualChannel channel(0);
  LinkLane lane(channel, static_cast<std::size_t>(state.range(0)), 0, 1, LinkFault::none);
  constexpr int flits = 20000;
  for (auto _ : state) {
    std::thread consumer([&] {
      for (int popped = 0; popped < flits;) {
        if (!lane.has_flits()) continue;
        benchmark::DoNotOptimize(lane.front());
        lane.pop();
        ++popped;
      }
    });
    const Flit flit{};
    for (int pushed = 0; pushed < flits;) {
      if (!lane.has_room()) continue;
      lane.push(flit, 1);
      ++pushed;
    }
    consumer.join();
  }
  count_flits(state, state.iterations() * flits);
}
BENCHMARK(flit_queue_two_threads)->Arg(1)->Arg(4)->Arg(16)->Arg(64)->UseRealTime();

// 1 MiB from one end of a line to the other: hops, capacity, router threads.
void flit_hops(benchmark::State& state) {
  constexpr Bytes bytes = Bytes{1} << 20;
  MachineOptions options;
  options.transport = Transport::flits;
  options.channel_capacity = static_cast<std::size_t>(state.range(1));
  options.routers = static_cast<int>(state.range(2));
  const auto hops = static_cast<Rank>(state.range(0));
  Machine machine(Topology::parse("line:" + std::to_string(hops + 1)), options);
  for (auto _ : state) {
    machine.run([&](Node& node) {
      if (node.rank() > 0 && node.rank() < hops) return;
      const Memory memory = node.memory(bytes);
      if (node.rank() == 0) node.step({send(hops, memory)});
      if (node.rank() == hops) node.step({receive(0, memory)});
    });
  }
  count_flits(state, state.iterations() * static_cast<std::int64_t>(flits_of(bytes)));
}
BENCHMARK(flit_hops)
    ->ArgsProduct({{1, 2, 4, 8}, {1, 4, 64}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void flit_memcpy(benchmark::State& state) {
  constexpr Bytes bytes = Bytes{1} << 20;
  std::vector<std::byte> from(bytes), to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  count_flits(state, state.iterations() * static_cast<std::int64_t>(flits_of(bytes)));
}
BENCHMARK(flit_memcpy);

}  // namespace
