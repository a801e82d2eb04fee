// The cost of a hop: one reservation.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/reservation.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace wormcube;

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
