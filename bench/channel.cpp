// The cost of a hop: one flit through one channel, and one reservation.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/channel.hpp"

#include <thread>

#include <benchmark/benchmark.h>

namespace {

using namespace wormcube;

// One thread pushes and pops, like a worm's driver.
void channel_flit(benchmark::State& state) {
  VirtualChannel channel(0);
  channel.make_queue(static_cast<std::size_t>(state.range(0)));
  Flit in, out;
  in.bytes = Flit::capacity;
  for (auto _ : state) {
    while (channel.try_push(in)) benchmark::ClobberMemory();
    while (channel.try_pop(out)) benchmark::DoNotOptimize(out);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * state.range(0) *
                          static_cast<std::int64_t>(Flit::capacity));
}
BENCHMARK(channel_flit)->Arg(1)->Arg(2)->Arg(4)->Arg(64);

// One thread pushes, another pops; the queue is mostly full or mostly empty.
void channel_two_threads(benchmark::State& state) {
  VirtualChannel channel(0);
  channel.make_queue(static_cast<std::size_t>(state.range(0)));
  constexpr int flits = 20000;
  for (auto _ : state) {
    std::thread consumer([&] {
      Flit flit;
      for (int popped = 0; popped < flits;) popped += channel.try_pop(flit) ? 1 : 0;
    });
    Flit flit;
    flit.bytes = Flit::capacity;
    for (int pushed = 0; pushed < flits;) pushed += channel.try_push(flit) ? 1 : 0;
    consumer.join();
  }
  state.SetItemsProcessed(state.iterations() * flits);
}
BENCHMARK(channel_two_threads)->Arg(1)->Arg(4)->Arg(64)->UseRealTime();

void reservation_uncontended(benchmark::State& state) {
  Reservation reservation;
  Waiter waiter(Waiter::Kind::worm);
  for (auto _ : state) {
    benchmark::DoNotOptimize(reservation.acquire(waiter));
    benchmark::DoNotOptimize(reservation.release());
  }
}
BENCHMARK(reservation_uncontended);

// The holder of a reservation releases it to a waiting thread.
void reservation_handed_over(benchmark::State& state) {
  Reservation reservation;
  Waiter a(Waiter::Kind::worm), b(Waiter::Kind::worm);
  benchmark::DoNotOptimize(reservation.acquire(a));
  for (auto _ : state) {
    benchmark::DoNotOptimize(reservation.acquire(b));
    benchmark::DoNotOptimize(reservation.release());
    benchmark::DoNotOptimize(reservation.acquire(a));
    benchmark::DoNotOptimize(reservation.release());
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(reservation_handed_over);

}  // namespace
