// Gates: what a node and the threads that arrive at it communicate.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/executor/gate.hpp"

#include "wormcube/tests/machine/counted.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using wormcube::Gate;

TEST_CASE("a gate opens at the last arrival", "[machine]") {
  Gate gate;
  CHECK(gate.is_open());
  gate.arm(3);
  CHECK_FALSE(gate.arrive());
  CHECK_FALSE(gate.arrive());
  CHECK_FALSE(gate.is_open());
  CHECK_FALSE(gate.arrive());  // nobody is parked: nobody to wake
  CHECK(gate.is_open());
  CHECK_FALSE(gate.park());  // open: do not block
  CHECK_FALSE(gate.is_parked());
}

TEST_CASE("the last arrival at a parked node must wake it, and one alone does", "[machine]") {
  Gate gate;
  for (int round = 0; round < 3; ++round) {
    gate.arm(2);
    CHECK(gate.park());
    CHECK(gate.is_parked());
    CHECK_FALSE(gate.arrive());
    CHECK(gate.is_parked());
    CHECK(gate.arrive());
    CHECK(gate.is_parked());  // until unpark
    CHECK(gate.unpark());
    CHECK_FALSE(gate.unpark());
    CHECK_FALSE(gate.is_parked());
    CHECK(gate.is_open());
  }
}

TEST_CASE("a stopped gate is open for good, armed again or not", "[machine]") {
  Gate gate;
  gate.arm(2);
  CHECK(gate.park());
  CHECK(gate.stop());  // parked: wake it
  CHECK(gate.unpark());
  CHECK(gate.is_open());
  CHECK(gate.is_stopped());
  CHECK_FALSE(gate.stop());
  gate.arm(5);
  CHECK(gate.is_open());
  CHECK(gate.is_stopped());
  CHECK_FALSE(gate.park());
  for (int i = 0; i < 5; ++i) CHECK_FALSE(gate.arrive());
  CHECK(gate.is_stopped());
  gate.reset();
  CHECK_FALSE(gate.is_stopped());
  CHECK(gate.is_open());
  gate.arm(1);
  CHECK(gate.park());
}

TEST_CASE("a call keeps a node from parking, or wakes it, until it has answered", "[machine]") {
  Gate gate;
  gate.arm(2);
  CHECK_FALSE(gate.call());  // not parked: nobody to wake
  CHECK_FALSE(gate.is_open());
  CHECK_FALSE(gate.park());
  gate.answer();
  CHECK(gate.park());
  CHECK(gate.call());
  CHECK(gate.unpark());
  CHECK_FALSE(gate.is_open());
  CHECK_FALSE(gate.arrive());
  gate.answer();
  CHECK(gate.park());
  CHECK(gate.call());
  CHECK(gate.arrive());  // both find it parked; one wakes it
  CHECK(gate.unpark());
  CHECK_FALSE(gate.unpark());
  CHECK(gate.is_open());
  gate.arm(1);  // a call outlives a step
  CHECK_FALSE(gate.park());
}

TEST_CASE("stop and the last arrival may both find the node parked, one of them wakes it",
          "[network]") {
  Gate gate;
  gate.arm(1);
  CHECK(gate.park());
  CHECK(gate.stop());
  CHECK(gate.arrive());
  CHECK(gate.unpark());
  CHECK_FALSE(gate.unpark());
}

TEST_CASE("a gate of one thread does the same, and locks nothing", "[machine]") {
  using machine_tests::changes;
  for (const bool one_thread : {false, true}) {
    CAPTURE(one_thread);
    wormcube::BasicGate<machine_tests::CountedAtomics> gate;
    if (one_thread) gate.use_one_thread();
    const int before = changes;
    gate.arm(5);
    gate.arrive_here(2);
    CHECK_FALSE(gate.arrive());
    CHECK_FALSE(gate.call());
    CHECK_FALSE(gate.park());
    gate.answer();
    CHECK(gate.park());
    CHECK_FALSE(gate.arrive());
    CHECK(gate.arrive());
    CHECK(gate.stop());
    CHECK(gate.unpark());
    CHECK_FALSE(gate.unpark());
    CHECK(gate.is_open());
    CHECK(gate.is_stopped());
    CHECK(changes - before == (one_thread ? 0 : 11));
  }
}

// The node arms and parks repeatedly; others arrive once each per round, one of them stops it
// in the last. In each round in which it parked exactly one wakes it, and never one too many.
TEST_CASE("a gate loses no wake-up and gives none twice", "[network][stress]") {
  constexpr int others = 3, rounds = 3000;
  Gate gate;
  std::atomic<int> round{0}, woken{0};
  int parked = 0;
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < others; ++i) {
      running.emplace_back([&] {
        for (int mine = 1; mine <= rounds; ++mine) {
          for (int seen = round.load(); seen < mine; seen = round.load()) round.wait(seen);
          if (gate.arrive() && gate.unpark()) {
            ++woken;
            gate.word().notify_all();
          }
        }
      });
    }
    for (int mine = 1; mine <= rounds; ++mine) {
      gate.arm(others + 1);
      round = mine;
      round.notify_all();
      static_cast<void>(gate.arrive());
      if (!gate.park()) continue;
      ++parked;
      for (auto seen = gate.word().load(); gate.is_parked(); seen = gate.word().load()) {
        gate.word().wait(seen);
      }
      if (!gate.is_open()) break;
    }
  }
  CHECK(round == rounds);
  CHECK(woken == parked);
}
