// The clock of a modelled machine: whose work is counted.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/observers/model_clock.hpp"

#include "wormcube/apps/mpi/abi/function.hpp"

#include <ctime>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::mpi;

namespace {

/// Takes so much of this thread's processor time.
void work(std::clock_t milliseconds) {
  const std::clock_t end = std::clock() + milliseconds * CLOCKS_PER_SEC / 1000;
  while (std::clock() < end) {
  }
}

}  // namespace

TEST_CASE("the work of other ranks while a rank sleeps does not count as its own", "[mpi]") {
  ModelClock clock(Topology::parse("ring:2"), 2, ModelClock::Kind::model, {}, 1);
  constexpr double seconds = 0.05;
  CHECK_FALSE(clock.rest(0));  // it has not begun
  for (const Rank rank : {0, 1}) {
    clock.enter(rank, Function::MPI_Init);
    CHECK_FALSE(clock.rest(rank));  // it is in a call
    clock.leave(rank);
  }
  CHECK(clock.rest(1));
  work(50);  // rank 0's
  clock.leave(1);
  CHECK(clock.look(0) >= 0.9 * seconds);
  CHECK(clock.look(1) < 0.5 * seconds);
}
