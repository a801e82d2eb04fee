// One message: short and long, near and far, to a running node and to a parked one.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/machine.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include <benchmark/benchmark.h>

namespace {

using namespace wormcube;

constexpr int round_trips = 2000;

// Node 0 and node `far` of a line send a message back and forth; the time is that of one direction.
// The first and the last message are checked, outside the timed part.
void ping_pong(benchmark::State& state, ExecutorKind executor, Rank nodes, Rank far, Bytes bytes,
               int workers = 0) {
  Machine machine(Topology::parse("line:" + std::to_string(nodes)),
                  {.executor = executor, .workers = workers});
  bool right = true;
  for (auto _ : state) {
    double seconds = 0;
    machine.run([&](Node& node) {
      if (node.rank() != 0 && node.rank() != far) return;
      const bool first = node.rank() == 0;
      const Rank peer = first ? far : 0;
      const Memory ball = node.memory(bytes);
      const auto round = [&] {
        if (first) node.step({send(peer, ball)});
        node.step({receive(peer, ball)});
        if (!first) node.step({send(peer, ball)});
      };
      const auto serve = [&] {
        node.local([&] { std::memset(ball.data(), first ? 7 : 0, bytes); });
      };
      const auto judge = [&] {
        node.local([&] {
          for (Bytes i = 0; i < bytes; ++i) right = right && ball.data()[i] == std::byte{7};
        });
      };
      serve();
      round();
      if (first) judge();
      const auto start = std::chrono::steady_clock::now();
      for (int trip = 0; trip < round_trips; ++trip) round();
      if (first) {
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        judge();
      }
    });
    state.SetIterationTime(seconds / (2 * round_trips));
  }
  if (!right) state.SkipWithError("wrong data");
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

// Two nodes on two cores answer each other spinning. A third node, which ends at once, makes nodes
// outnumber cores: then waiting nodes park, and each message wakes one.
void message_running(benchmark::State& state) {
  ping_pong(state, ExecutorKind::threads, 2, 1, static_cast<Bytes>(state.range(0)));
}
void message_parked(benchmark::State& state) {
  ping_pong(state, ExecutorKind::threads, 64, 1, static_cast<Bytes>(state.range(0)));
}
void message_fibers(benchmark::State& state) {
  ping_pong(state, ExecutorKind::fibers, 64, 1, static_cast<Bytes>(state.range(0)),
            static_cast<int>(state.range(1)));
}
void message_hops(benchmark::State& state) {
  ping_pong(state, ExecutorKind::fibers, 64, static_cast<Rank>(state.range(0)), 64, 1);
}
// The two nodes run on separate workers.
void message_across(benchmark::State& state) {
  ping_pong(state, ExecutorKind::fibers, 2, 1, static_cast<Bytes>(state.range(0)), 2);
}
// Each of 64 nodes exchanges `bytes` with the other nodes in turn. The result is the processor time
// per message of the whole process, so that machines with other load can be compared.
void message_pairs(benchmark::State& state, ExecutorKind executor) {
  constexpr int rounds = 4;
  const auto bytes = static_cast<Bytes>(state.range(0));
  Machine machine(Topology::parse("torus:8x8"), {.executor = executor,
                                                 .window = static_cast<int>(state.range(1)),
                                                 .workers = static_cast<int>(state.range(2))});
  std::uint64_t messages = 0;
  std::atomic<bool> right = true;
  for (auto _ : state) {
    const Statistics statistics = machine.run([&](Node& node) {
      const Memory out = node.memory(bytes * 64), in = node.memory(bytes * 64);
      const auto byte = [](Rank from, Rank to) { return static_cast<std::byte>(from * 7 + to); };
      const auto block = [&](const Memory& of, Rank other) {
        return of.subspan(bytes * static_cast<Bytes>(other), bytes);
      };
      node.local([&] {
        for (Rank to = 0; to < 64; ++to) std::ranges::fill(block(out, to), byte(node.rank(), to));
      });
      for (int round = 0; round < rounds; ++round) {
        for (Rank i = 1; i < 64; ++i) {
          const Rank other = node.rank() ^ i;
          node.step({send(other, block(out, other)), receive(other, block(in, other))});
        }
      }
      node.local([&] {
        for (Rank from = 0; from < 64; ++from) {
          const Span came = block(in, from);
          if (from == node.rank() || bytes == 0) continue;
          if (came.back() != byte(from, node.rank())) right = false;
        }
      });
    });
    for (const NodeStatistics& node : statistics.nodes) messages += node.messages;
  }
  if (!right) state.SkipWithError("wrong data");
  state.counters["messages"] = static_cast<double>(messages);
  state.counters["a_message"] = benchmark::Counter(
      static_cast<double>(messages), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
void message_pairs_fibers(benchmark::State& state) { message_pairs(state, ExecutorKind::fibers); }
void message_pairs_threads(benchmark::State& state) { message_pairs(state, ExecutorKind::threads); }
BENCHMARK(message_pairs_fibers)
    ->ArgNames({"bytes", "window", "workers"})
    ->ArgsProduct({{0, 64, 1024, 4096}, {1, 8}, {1, 2}})
    ->MeasureProcessCPUTime();
BENCHMARK(message_pairs_threads)
    ->ArgNames({"bytes", "window", "workers"})
    ->ArgsProduct({{64}, {1, 2, 8}, {0}})
    ->MeasureProcessCPUTime();

// A run without work on a hypercube with this many dimensions.
void empty_run(benchmark::State& state) {
  Machine machine(Topology::parse("hypercube:" + std::to_string(state.range(0))),
                  {.executor = ExecutorKind::fibers});
  machine.run([](Node&) {});
  for (auto _ : state) machine.run([](Node&) {});
}
BENCHMARK(empty_run)
    ->ArgName("dimensions")
    ->Arg(10)
    ->Arg(16)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

BENCHMARK(message_running)
    ->Arg(0)
    ->Arg(64)
    ->Arg(1024)
    ->Arg(4096)
    ->Arg(65536)
    ->UseManualTime()
    ->Iterations(5);
BENCHMARK(message_parked)->Arg(64)->Arg(4096)->Arg(65536)->UseManualTime()->Iterations(5);
BENCHMARK(message_fibers)
    ->ArgNames({"bytes", "workers"})
    ->ArgsProduct({{64, 4096, 65536}, {1, 2}})
    ->UseManualTime()
    ->Iterations(5);
BENCHMARK(message_across)->Arg(64)->Arg(4096)->UseManualTime()->Iterations(5);
BENCHMARK(message_hops)->Arg(1)->Arg(2)->Arg(8)->Arg(16)->UseManualTime()->Iterations(5);

}  // namespace
