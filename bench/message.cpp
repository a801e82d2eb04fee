// One message, one way: short and long, near and far, to a node that runs and to a parked one.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/machine.hpp"

#include <cstring>
#include <string>

#include <benchmark/benchmark.h>

namespace {

using namespace wormcube;

constexpr int round_trips = 2000;

// Node 0 and node `far` of a line send a message there and back; the time is one way. The first and the
// last message are checked, outside the timed part.
void ping_pong(benchmark::State& state, NodesAs nodes_as, Rank nodes, Rank far, Bytes bytes) {
  Machine machine(Topology::parse("line:" + std::to_string(nodes)), {.nodes_as = nodes_as});
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
  ping_pong(state, NodesAs::threads, 2, 1, static_cast<Bytes>(state.range(0)));
}
void message_parked(benchmark::State& state) {
  ping_pong(state, NodesAs::threads, 64, 1, static_cast<Bytes>(state.range(0)));
}
void message_fibers(benchmark::State& state) {
  ping_pong(state, NodesAs::fibers, 64, 1, static_cast<Bytes>(state.range(0)));
}
void message_hops(benchmark::State& state) {
  ping_pong(state, NodesAs::fibers, 64, static_cast<Rank>(state.range(0)), 64);
}
BENCHMARK(message_running)
    ->Arg(0)
    ->Arg(64)
    ->Arg(1024)
    ->Arg(4096)
    ->Arg(65536)
    ->UseManualTime()
    ->Iterations(5);
BENCHMARK(message_parked)->Arg(64)->Arg(4096)->Arg(65536)->UseManualTime()->Iterations(5);
BENCHMARK(message_fibers)->Arg(64)->Arg(4096)->Arg(65536)->UseManualTime()->Iterations(5);
BENCHMARK(message_hops)->Arg(1)->Arg(2)->Arg(8)->Arg(16)->UseManualTime()->Iterations(5);

}  // namespace
