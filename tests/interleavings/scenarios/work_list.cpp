// The list of work for workers.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/executor/work_list.hpp"

#include "wormcube/tests/interleavings/scenarios/programs.hpp"

#include <array>
#include <chrono>

namespace interleavings {
namespace programs {
namespace {

// Two workers hand each other items; whoever finds that nobody is busy finds
// all done.
template <int Hops>
struct Lists {
  static constexpr int threads = 2;
  using List = wormcube::WorkList<Item, Explored>;
  wormcube::BasicBusy<Explored> busy;
  std::array<List, 2> lists{List(busy), List(busy)};
  Item token, last[2];
  Plain<int> hops = 0, found = 0;
  Lists() {
    busy.begin();
    busy.begin();
  }
  void send(int to, Item& item) {
    if (lists[to].push(item)) lists[to].wake();
  }
  void thread(int i) {
    if (i == 0) send(1, token);
    for (;;) {
      forget(0);
      bool any = false, ends = false;
      for (Item* item = lists[i].take(); item != nullptr;) {
        Item* const next = item->next;
        any = true;
        if (item == &last[i]) {
          ends = true;
        } else if (hops < Hops) {
          hops = hops + 1;
          send(1 - i, *item);
        } else {
          hops = hops + 1;
        }
        item = next;
      }
      if (ends) return;
      if (any || !lists[i].rest()) continue;
      if (busy.end()) {
        require(hops == Hops + 1, "all is done");
        found = found + 1;
        if (!lists[i].rouse()) {
          require(false, "nobody else is there who could push");
        }
        send(1 - i, last[1 - i]);
        return;
      }
      lists[i].sleep();
    }
  }
  void end() { require(found == 1, "it is found, once"); }
};

// Threads hand an idle worker an item each: one of them counts it, and must wake it.
template <int Threads>
struct Handed {
  static constexpr int threads = Threads;
  wormcube::BasicBusy<Explored> busy;
  wormcube::WorkList<Item, Explored> list{busy};
  std::array<Item, Threads> items;
  std::array<Plain<int>, Threads> woke;
  Handed() {
    busy.begin();
    require(list.rest() && busy.end(), "it is idle");
    for (int i = 0; i < Threads; ++i) busy.begin();
  }
  void thread(int i) {
    woke[i] = list.push(items[i]) ? 1 : 0;
    require(!busy.end(), "the worker is busy");
  }
  void end() {
    int wake = 0, taken = 0;
    for (const Plain<int>& each : woke) wake += each;
    for (Item* item = list.take(); item != nullptr; item = item->next) ++taken;
    require(wake == 1 && taken == Threads, "all is there, and one wakes it");
    require(list.rest() && busy.end(), "it was counted once");
  }
};

// One hands items to a worker, which dozes when it has none: for no time at
// first, then until it is woken.
struct Dozes {
  static constexpr int threads = 2;
  using Time = std::chrono::steady_clock::time_point;
  wormcube::BasicBusy<Explored> busy;
  wormcube::WorkList<Item, Explored> list{busy};
  std::array<Item, 2> items;
  std::array<Plain<int>, 2> work;
  Plain<int> taken = 0, dozed = 0;
  Dozes() { busy.begin(); }
  void thread(int i) {
    for (int k = 0; i == 1 && k < 2; ++k) {
      work[k] = 1;
      if (list.push(items[k])) list.wake();
    }
    while (i == 0 && taken < 2) {
      forget(0);
      bool any = false;
      for (Item* item = list.take(); item != nullptr; any = true) {
        Item* const next = item->next;
        require(item == &items[taken] && work[taken] == 1, "it is what was handed over");
        taken = taken + 1;
        item = next;
      }
      if (any) continue;
      list.doze(dozed == 0 ? Time() : Time::max());
      dozed = 1;
    }
  }
  void end() { require(taken == 2 && !list.has_items(), "all is taken"); }
};

}  // namespace
}  // namespace programs

std::vector<Scenario> work_list_scenarios() {
  return {
      quick<programs::Lists<1>>("work lists: 2 workers, one item, 1 hop", fewer),
      wide<programs::Lists<2>>("work lists: 2 workers, one item, 2 hops"),
      quick<programs::Handed<2>>("work lists: 2 hand an idle worker an item each"),
      quick<programs::Handed<3>>("work lists: 3 hand an idle worker an item each"),
      quick<programs::Dozes>("work lists: a worker that dozes, 2 items"),
  };
}

}  // namespace interleavings
