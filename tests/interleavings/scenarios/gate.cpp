// Gates: at which others arrive, that are stopped, whose node is called.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/inbox.hpp"
#include "wormcube/tests/interleavings/scenarios/programs.hpp"

#include <array>

namespace interleavings {
namespace programs {
namespace {

// A node arms its gate repeatedly; each of the others arrives once each time.
template <int Threads, int Rounds>
struct Arrivals : Nodes {
  static constexpr int threads = Threads;
  Gate gate;
  Atomic<int> step = 0;  // stands for the reservations by which others learn of the step
  std::array<Plain<int>, Threads> data;

  Arrivals() { nodes.begin(Threads); }
  void thread(int i) {
    for (int round = 1; round <= Rounds; ++round) {
      if (i == 0) {
        gate.arm(Threads);
        forget(round);
        step.store(round, release);
        gate.arrive_here(1);
        wait(gate);
        forget(round);
        require(gate.is_open(), "it goes on when all have arrived");
        for (int other = 1; other < Threads; ++other) {
          require(data[other] == round, "what they did for it is done");
        }
      } else {
        step.await(round);
        data[i] = round;
        if (gate.arrive()) wake(gate);
        forget(round);
      }
    }
    nodes.end(nobody_may_find);
  }
  void end() { require(!gate.is_parked(), "it is awake"); }
};

// A node waits for the others' arrivals and is stopped meanwhile. One wakes it,
// whoever that is.
template <int Threads>
struct Stopped : Nodes {
  static constexpr int threads = Threads;
  Gate gate;
  Plain<int> reason = 0;
  Stopped() {
    nodes.begin(Threads);
    gate.arm(Threads - 1);
  }
  void thread(int i) {
    if (i == 0) {
      wait(gate);
      require(gate.is_open(), "it goes on when it is stopped, or all have arrived");
      if (gate.is_stopped()) require(reason == 1, "what the stopper did is done");
    } else if (i == 1) {
      reason = 1;
      if (gate.stop()) wake(gate);
      forget(1);
      if (gate.arrive()) wake(gate);
    } else {
      if (gate.arrive()) wake(gate);
    }
    nodes.end(nobody_may_find);
  }
  void end() {
    require(gate.is_stopped() && gate.is_open(), "it stays stopped");
    gate.arm(1);
    require(gate.is_stopped() && gate.is_open(), "however it is armed");
  }
};

// A node waits for one message that another thread carries; it looks at its
// inbox whenever it is called. As Machine does in wait_for() and give_back().
template <int Threads, bool Twice>
struct GivenBack : Nodes {
  static constexpr int threads = Threads;
  Gate gate;
  wormcube::BasicInbox<Item, Explored> inbox;
  std::array<Item, 4> items;
  GivenBack() {
    nodes.begin(Threads);
    gate.arm(Threads - 1);
  }
  static void handle(Item* item) {
    while (item != nullptr) {
      Item* const next = item->next;
      require(item->data > 0, "what was given is there");
      item->handled = item->handled + 1;
      item = next;
    }
  }
  void give(Item& item, int data) {
    item.data = data;
    if (!inbox.put(item)) {
      item.handled = item.handled + 1;
    } else if (gate.call()) {
      wake(gate);
    }
  }
  void thread(int i) {
    if (i == 0) {
      inbox.open();
      for (;;) {
        if (gate.park()) nodes.block(gate, nobody_may_find);
        forget(1);
        if (gate.is_open()) break;
        gate.answer();
        handle(inbox.take());
        forget(2);
        if (gate.is_open()) break;
        forget(3);
      }
      forget(4);
      handle(inbox.close());
    } else {
      give(items[i], i);
      forget(1);
      if (Twice) give(items[2 + i], 2 + i);
      forget(2);
      if (gate.arrive()) wake(gate);
    }
    nodes.end(nobody_may_find);
  }
  void end() {
    for (std::size_t i = 1; i < (Twice ? 4 : static_cast<std::size_t>(Threads)); ++i) {
      if (Twice && Threads == 2 && i == 2) continue;
      require(items[i].handled == 1, "each is carried on once");
    }
  }
};

// A node on a worker of its own, which two others call, one of them twice. Whoever unparks it hands the
// worker its task, which is in one list at a time; the node sees what it was called for, or is called again.
struct Called {
  static constexpr int threads = 3;
  static constexpr std::array<int, 2> calls{2, 1};
  Gate gate;
  Plain<int> task = 0;  // how often it was handed over
  Atomic<int> handed = 0;
  std::array<Atomic<int>, 2> asked;

  Called() { gate.arm(1); }  // for what does not come
  void thread(int i) { i == 0 ? run() : call(i - 1); }
  void run() {
    int woken = 0;
    do {
      if (gate.park()) {
        handed.await(++woken);
        require(task == woken, "it is handed over once");
      }
      forget(woken);
      gate.answer();
    } while (asked[0].load(relaxed) < calls[0] || asked[1].load(relaxed) < calls[1]);
  }
  void call(int i) {
    for (int k = 1; k <= calls[i]; ++k) {
      asked[i].store(k, relaxed);
      if (gate.call() && gate.unpark()) {
        task = task + 1;
        handed.store(task, release);
      }
      forget(k);
    }
  }
  void end() { require(!gate.is_parked(), "it is awake"); }
};

}  // namespace
}  // namespace programs

std::vector<Scenario> gate_scenarios() {
  return {
      quick<programs::Arrivals<2, 2>>("gate: 2 threads, 2 steps"),
      quick<programs::Arrivals<3, 1>>("gate: 3 threads, a step", fewer),
      wide<programs::Arrivals<3, 2>>("gate: 3 threads, 2 steps"),
      quick<programs::Stopped<2>>("gate: stopped, 2 threads"),
      quick<programs::Stopped<3>>("gate: stopped, 3 threads", fewer),
      wide<programs::Stopped<3>>("gate: stopped, 3 threads, wider"),
      quick<programs::GivenBack<2, false>>("gate and inbox: 2 threads, an item"),
      quick<programs::GivenBack<2, true>>("gate and inbox: 2 threads, 2 items", fewer),
      quick<programs::Called>("gate: called by 2 threads, three times", fewer),
  };
}

}  // namespace interleavings
