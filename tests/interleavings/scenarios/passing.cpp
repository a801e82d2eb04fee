// Messages to one node with one tag on one path, when a message follows another of its step: rule
// Order of StepWindow.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/completion.hpp"
#include "wormcube/runtime/network/reservation.hpp"
#include "wormcube/tests/interleavings/scenarios/programs.hpp"

namespace interleavings {
namespace programs {
namespace {

// Thread 0 has sent a first message, whose path is free again, and a second one that follows it. Then
// it takes its next step, which sends a third on the same path. Thread 1 completes the first, and so
// launches the second.
template <bool KeepsTheRule>
struct Passes : Nodes {
  static constexpr int threads = 2;
  struct Worm : Listed<Worm> {
    wormcube::BasicCompletion<Explored> completion;
  };
  wormcube::BasicReservation<Worm, Explored> path;
  Worm second, third;
  Gate gate;
  Plain<int> arrived = 0;  // of whoever holds the path

  Passes() {
    nodes.begin(2);
    second.data = 2;
    third.data = 3;
    for (Worm* const worm : {&second, &third}) {
      worm->completion.begin(wormcube::BasicCompletion<Explored>::Progress::pending);
    }
  }
  void thread(int i) {
    if (i == 0) {
      if (KeepsTheRule) wait_for(second);
      launch(third);
    } else {
      launch(second);
    }
    nodes.end(nobody_may_find);
  }
  void wait_for(Worm& worm) {
    gate.arm(2);
    gate.arrive_here(worm.completion.await() ? 1 : 2);
    wait(gate);
  }
  void launch(Worm& worm) {
    if (!path.acquire(worm)) return;
    for (Worm* holder = &worm; holder != nullptr; holder = path.release()) {
      arrived = arrived + 1;
      require(holder->data == arrived + 1, "messages arrive in the order sent");
      using Progress = wormcube::BasicCompletion<Explored>::Progress;
      if (holder->completion.settle() == Progress::awaited && gate.arrive()) wake(gate);
    }
  }
  void end() { require(arrived == 2, "both arrive"); }
};

}  // namespace
}  // namespace programs

std::vector<Scenario> passing_scenarios() {
  return {quick<programs::Passes<true>>("passing: one that follows is waited for")};
}

Scenario passing_without_its_rule() {
  return quick<programs::Passes<false>>("passing: one that follows is passed");
}

}  // namespace interleavings
