// Workers with nodes: all end, or wait.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/work_place.hpp"

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

  void all_wait() {
    require(Deadlock, "some node runs, or all have ended");
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
        places[i].rest([this] { all_wait(); });
      }
    }
  }
  void end() { require(found == (Deadlock ? 1 : 0), "a deadlock is found, once"); }
};

}  // namespace
}  // namespace programs

std::vector<Scenario> work_place_scenarios() {
  return {
      quick<programs::Workers<false, false>>("workers: 2, a message", fewer),
      quick<programs::Workers<true, false>>("workers: 2, a deadlock", fewer),
      quick<programs::Workers<true, true>>("workers: one with 2 nodes, one with none, a deadlock",
                                           fewer),
      wide<programs::Workers<false, false>>("workers: 2, a message, wider"),
      wide<programs::Workers<true, false>>("workers: 2, a deadlock, wider"),
  };
}

}  // namespace interleavings
