// Workers with nodes: all end, or wait.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/executor/work_place.hpp"

#include "wormcube/tests/interleavings/scenarios/programs.hpp"

#include <array>

namespace interleavings {
namespace programs {
namespace {

// Two workers that have been started. Each has a node: the first does something
// for the second, which waits for it, and ends; or waits itself, for what never
// comes.
template <bool Deadlock, bool BothOnOne>
struct Workers {
  static constexpr int threads = 2;
  using All = wormcube::BasicWorkers<Item, Explored>;
  using Place = wormcube::BasicWorkPlace<Item, Explored>;
  All all;
  std::array<Place, 2> places{Place(all), Place(all)};
  std::array<Item, 2> start, finish, tasks;
  std::array<Gate, 2> gates;
  std::array<Plain<int>, 2> work, resumed;
  Plain<int> found = 0;
  Atomic<int> ended = 0;

  Workers() {
    gates[0].arm(1);                 // never
    gates[1].arm(Deadlock ? 2 : 1);  // one comes
    all.begin();
    for (int worker = 0; worker < 2; ++worker) places[worker].send(start[worker]);
    all.started([] { require(false, "the workers are busy"); });
  }
  static int home(int node) { return BothOnOne ? 0 : node; }

  void all_wait(int worker) {
    require(Deadlock, "some node runs, or all have ended");
    require(!BothOnOne || worker == 0, "the run cannot end meanwhile: a worker with nodes ends it");
    found = found + 1;
    for (const Plain<int>& each : work) require(each == 1, "it sees what all have done");
    for (int node = 0; node < 2; ++node) {
      if (gates[node].stop()) wake(node);
      forget(100 + node);
    }
  }
  void wake(int node) {
    if (gates[node].unpark()) places[home(node)].send(tasks[node]);
  }

  // A node's program; false: it waits.
  bool run(int node) {
    if (resumed[node] == 0) {
      work[node] = 1;
      resumed[node] = 1;
      if (node == 0 && gates[1].arrive()) wake(1);
      if ((node == 1 || Deadlock) && gates[node].park()) return false;
    }
    if (node == 1 && !Deadlock) require(work[0] == 1, "what it waits for is done");
    return true;
  }
  void run_and_end(int worker, int node) {
    if (run(node) && places[worker].one_has_ended()) all_ended();
  }
  void all_ended() {
    require(ended.exchange(1, release) == 0, "all end once");
    for (const Plain<int>& each : work) require(each == 1, "what all have done is done");
    for (int worker = 0; worker < 2; ++worker) places[worker].send(finish[worker]);
  }
  void thread(int i) {
    for (bool finished = false;;) {
      forget(finished ? 1 : 0);
      std::array<int, 2> ready = {};
      int count = 0;
      places[i].take([&](Item& item) {
        if (&item == &start[i]) {
          places[i].begin(BothOnOne ? (i == 0 ? 2 : 0) : 1);
          for (int node = 0; node < 2; ++node) {
            if (home(node) == i) ready[count++] = node;
          }
          if (BothOnOne && i == 1 && all.one_is_done()) all_ended();
        } else if (&item == &finish[i]) {
          finished = true;
        } else {
          ready[count++] = &item == &tasks[0] ? 0 : 1;
        }
      });
      if (count > 0) {
        for (int k = 0; k < count; ++k) run_and_end(i, ready[k]);
      } else if (finished) {
        return;
      } else {
        places[i].rest([this, i] { all_wait(i); });
      }
    }
  }
  void end() { require(found == (Deadlock ? 1 : 0), "a deadlock is found, once"); }
};

// A worker with a node, and who starts them: the last of the two to have nothing to do finds that
// the node waits for what never comes.
template <bool Deadlock>
struct Started {
  static constexpr int threads = 2;
  wormcube::BasicWorkers<Item, Explored> all;
  wormcube::BasicWorkPlace<Item, Explored> place{all};
  Item start, task, finish;
  Gate gate;
  Plain<int> found = 0;

  Started() { gate.arm(1); }
  void all_wait() {
    require(Deadlock && gate.is_parked(), "the node runs, has not begun or has ended");
    found = found + 1;
    require(gate.stop() && gate.unpark(), "it waits");
    place.send(task);
  }
  void thread(int i) {
    if (i == 1) {
      all.begin();
      place.send(start);
      all.started([this] { all_wait(); });
      if (!Deadlock) place.send(finish);
      return;
    }
    bool ended = false, finished = Deadlock;
    while (!ended || !finished) {
      forget((ended ? 1 : 0) + (finished ? 2 : 0));
      bool any = false;
      place.take([&](Item& item) {
        any = true;
        finished |= &item == &finish;
        if (&item == &start) place.begin(1);
        if (&item == &finish || (Deadlock && gate.park())) return;
        require(place.one_has_ended(), "it is the only one");
        ended = true;
      });
      if (!any) place.rest([this] { all_wait(); });
    }
  }
  void end() { require(found == (Deadlock ? 1 : 0), "a deadlock is found, once"); }
};

// A worker looks when it is asked to; each time it sees what was done before, and rests until there is more.
struct Looks {
  static constexpr int threads = 2;
  static constexpr int times = 2;
  wormcube::BasicWorkers<Item, Explored> all;
  wormcube::BasicWorkPlace<Item, Explored> place{all};
  Atomic<int> done = 0;

  Looks() { all.begin(); }  // who asks is busy
  void thread(int i) {
    if (i == 1) {
      for (int k = 1; k <= times; ++k) {
        done.store(k, relaxed);
        place.look();
      }
      return;
    }
    for (;;) {
      forget(0);
      place.take([](Item&) { require(false, "it is handed nothing"); });
      if (done.load(relaxed) == times) return;
      place.rest([] { require(false, "somebody is busy"); });
    }
  }
  void end() {}
};

}  // namespace
}  // namespace programs

std::vector<Scenario> work_place_scenarios() {
  return {
      quick<programs::Workers<false, false>>("workers: 2, a message", fewer),
      quick<programs::Workers<true, false>>("workers: 2, a deadlock", fewer),
      quick<programs::Workers<true, true>>("workers: one with 2 nodes, one with none, a deadlock",
                                           fewer),
      quick<programs::Started<false>>("workers: one is started, a node that ends", fewer),
      quick<programs::Started<true>>("workers: one is started, a deadlock", fewer),
      quick<programs::Looks>("workers: one is asked to look twice", fewer),
      wide<programs::Workers<false, false>>("workers: 2, a message, wider"),
      wide<programs::Workers<true, false>>("workers: 2, a deadlock, wider"),
  };
}

}  // namespace interleavings
