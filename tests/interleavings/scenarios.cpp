// The programs. Each stands for what the machine does with these classes, and
// says what must hold.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/interleavings/scenarios.hpp"

#include "wormcube/runtime/machine/gate.hpp"
#include "wormcube/runtime/machine/inbox.hpp"
#include "wormcube/runtime/machine/node_threads.hpp"
#include "wormcube/runtime/machine/work_place.hpp"
#include "wormcube/runtime/network/completion.hpp"
#include "wormcube/runtime/network/lazy_table.hpp"
#include "wormcube/runtime/network/reservation.hpp"
#include "wormcube/tests/interleavings/atomics.hpp"

#include <array>
#include <chrono>
#include <optional>

namespace interleavings {
namespace programs {
namespace {

using Gate = wormcube::BasicGate<Explored>;
constexpr auto acquire = std::memory_order_acquire, release = std::memory_order_release;

/// What lists are made of: an item of one thread, that others carry on.
template <class Self>
struct Listed {
  Plain<int> data = 0;
  Plain<Self*> next = nullptr;
  Plain<int> handled = 0;
};
struct Item : Listed<Item> {};

// Each thread asks for each of its items in turn; who holds the reservation
// carries on whoever it is handed.
template <int Threads, int Rounds>
struct Holders {
  static constexpr int threads = Threads;
  struct Waiting : Listed<Waiting> {
    Ghost<int> ticket = 0;
  };
  wormcube::BasicReservation<Waiting, Explored> reservation;
  std::array<Waiting, Threads * Rounds> waiting;
  Waiting last;
  Plain<int> served = 0;  // the resource
  Ghost<int> tickets = 0;

  void thread(int i) {
    for (int round = 0; round < Rounds; ++round) {
      Waiting& mine = waiting[i * Rounds + round];
      mine.data = i + 1;
      forget(round);
      const bool held = reservation.acquire(mine);
      // No other thread has done anything since it got its place.
      tickets = tickets + 1;
      mine.ticket = tickets;
      if (!held) continue;
      for (Waiting* holder = &mine; holder != nullptr; holder = reservation.release()) {
        forget(round * 100 + static_cast<int>(holder - waiting.data()));
        served = served + 1;
        require(holder->ticket == served, "first come, first served");
        require(holder->data > 0, "what the waiter has written is there");
        holder->handled = holder->handled + 1;
      }
    }
  }
  void end() {
    require(served == Threads * Rounds, "all are served");
    for (const Waiting& each : waiting) require(each.handled == 1, "each is served once");
    require(reservation.acquire(last), "nobody holds it any more");
  }
};

// A network of two channels in a row: worms reserve both, pass flits through
// queues of one flit, and release them; who frees a channel carries on the worm
// that waits for it. The queues are plain: they may be used by one thread at a
// time only.
template <int Threads>
struct Worms {
  static constexpr int threads = Threads;
  struct Worm : Listed<Worm> {
    Plain<int> reserved = 0, arrived = 0;
  };
  struct Channel : wormcube::BasicReservation<Worm, Explored> {
    Plain<bool> full = false;
    Plain<int> flit = 0;
    bool push(int value) {
      if (full) return false;
      flit = value;
      full = true;
      return true;
    }
    bool pop(int& value) {
      if (!full) return false;
      value = flit;
      full = false;
      return true;
    }
  };
  std::array<Channel, 2> path;
  std::array<Worm, Threads> worms;

  // Those that this thread was handed: in the machine a list, here there is one
  // for each channel at most.
  struct Handed {
    std::array<Worm*, 4> worms = {};
    int count = 0;
    void take_over(Worm* worm) {
      if (worm != nullptr) worms[count++] = worm;
    }
  };

  void advance(Worm& worm, Handed& handed) {
    while (worm.reserved < 2) {
      if (!path[worm.reserved].acquire(worm)) return;
      worm.reserved = worm.reserved + 1;
    }
    int at[3] = {};
    for (int flit = 0; flit < 2; ++flit) {
      require(path[0].push(worm.data * 10 + flit), "the first queue is empty");
      require(path[0].pop(at[0]) && path[1].push(at[0]), "so is the next");
      require(path[1].pop(at[1]) && at[1] == worm.data * 10 + flit, "a worm's flits are its own");
    }
    for (Channel& channel : path) handed.take_over(channel.release());
    worm.arrived = worm.arrived + 1;
  }
  void thread(int i) {
    worms[i].data = i + 1;
    Handed handed;
    advance(worms[i], handed);
    while (handed.count > 0) {
      Worm& next = *handed.worms[0];
      for (int k = 1; k < handed.count; ++k) handed.worms[k - 1] = handed.worms[k];
      --handed.count;
      next.reserved = next.reserved + 1;  // granted
      advance(next, handed);
    }
  }
  void end() {
    for (const Worm& worm : worms) require(worm.arrived == 1, "each arrives once");
  }
};

// A node opens and closes its inbox; the others put what they have into it.
template <int Threads, int Rounds, int Each>
struct Boxes {
  static constexpr int threads = Threads;
  wormcube::BasicInbox<Item, Explored> inbox;
  std::array<Item, (Threads - 1) * Each> items;
  std::array<Plain<int>, (Threads - 1) * Each> put;

  void take_all(Item* item) {
    std::array<int, Threads> last = {};
    while (item != nullptr) {
      Item* const next = item->next;
      const int data = item->data;
      require(data % 8 > last[data / 8], "the oldest comes first");
      last[data / 8] = data % 8;
      item->handled = item->handled + 1;
      item = next;
    }
  }
  void thread(int i) {
    if (i == 0) {
      for (int round = 0; round < Rounds; ++round) {
        inbox.open();
        take_all(inbox.take());
        forget(round);
        take_all(inbox.close());
        forget(round);
      }
      return;
    }
    for (int k = 0; k < Each; ++k) {
      const int number = (i - 1) * Each + k;
      items[number].data = i * 8 + k + 1;
      if (inbox.put(items[number])) {
        put[number] = 1;
      } else {
        items[number].data = 0;  // still its own
      }
      forget(k);
    }
  }
  void end() {
    for (std::size_t i = 0; i < items.size(); ++i) {
      require(items[i].handled == put[i], "what is put is taken once, what is refused is not");
    }
    require(inbox.close() == nullptr, "a closed inbox is empty");
  }
};

/// Nodes as threads: how all that follow wait.
struct Nodes {
  wormcube::BasicNodeThreads<Explored> nodes;
  static void nobody_may_find() { require(false, "somebody runs, or will"); }
  void wait(Gate& gate) {
    if (gate.is_open()) return;
    if (gate.park()) nodes.block(gate, nobody_may_find);
  }
  void wake(Gate& gate) { nodes.wake(gate, nobody_may_find); }
};

// A node arms its gate again and again; each of the others arrives once each
// time.
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

enum class Waits { awaits, looks, watches };

// A transfer that another thread completes while its node waits for it, in one
// of three ways, and ends it then.
template <Waits How, bool AtOnce>
struct Completes : Nodes {
  static constexpr int threads = 2;
  using Completion = wormcube::BasicCompletion<Explored>;
  std::optional<Completion> transfer = std::optional<Completion>(std::in_place);
  Gate gate;
  Atomic<int> under_way = 0;
  Plain<int> data = 0;
  Completes() { nodes.begin(2); }
  void thread(int i) {
    i == 0 ? wait_for_it() : complete();
    nodes.end(nobody_may_find);
  }
  void wait_for_it() {
    gate.arm(How == Waits::watches ? 1 : 2);
    transfer->begin(AtOnce ? Completion::Progress::awaited : Completion::Progress::pending);
    under_way.store(1, release);
    if (How == Waits::awaits) {
      std::uint32_t complete = 1;
      if (!AtOnce && !transfer->await()) ++complete;
      gate.arrive_here(complete);
      wait(gate);
    } else if (How == Waits::looks) {
      for (int tries = 0; tries < 2 && !transfer->is_complete(); ++tries) {
      }
      if (!transfer->is_complete()) {
        under_way.await(2);
        require(transfer->is_complete(), "it is complete");
      }
    } else {
      if (transfer->watch()) {
        for (;;) {
          if (gate.park()) nodes.block(gate, nobody_may_find);
          gate.answer();
          if (transfer->is_complete()) break;
        }
      }
      transfer->unwatch();
      require(transfer->is_complete(), "what is complete stays so");
    }
    require(data == 7, "what was done for it is done");
    // Asked last: it would order what the gate must.
    require(transfer->is_complete(), "what is waited for is complete");
    transfer.reset();
    data = 0;
  }
  void complete() {
    under_way.await(1);
    data = 7;
    const auto was = transfer->settle();
    require(How == Waits::awaits || was != Completion::Progress::awaited, "nobody awaits it");
    switch (was) {
      case Completion::Progress::awaited:
        if (gate.arrive()) wake(gate);
        break;
      case Completion::Progress::watched:
        if (gate.call()) wake(gate);
        break;
      default:
        break;
    }
    if (How == Waits::looks) under_way.store(2, release);
  }
  void end() {}
};

// Nodes of which each waits for what never comes: the last to wait finds it,
// and sees what all have done.
template <int Threads, bool OneEnds>
struct ThreadsWait {
  static constexpr int threads = Threads;
  wormcube::BasicNodeThreads<Explored> nodes;
  std::array<Gate, Threads> gates;
  std::array<Plain<int>, Threads> work;
  Plain<int> found = 0;
  Atomic<bool> stopping = false;

  ThreadsWait() {
    nodes.begin(Threads);
    for (Gate& gate : gates) gate.arm(2);  // of which one comes
  }
  void all_wait() {
    if (stopping.exchange(true, std::memory_order_acq_rel)) return;
    found = found + 1;
    for (const Plain<int>& each : work) require(each == 1, "it sees what all have done");
    for (Gate& gate : gates) {
      if (gate.stop()) nodes.wake(gate, [this] { all_wait(); });
    }
  }
  void thread(int i) {
    work[i] = 1;
    Gate& next = gates[(i + 1) % Threads];
    if (!OneEnds && next.arrive()) nodes.wake(next, [this] { all_wait(); });
    forget(1);
    if (!OneEnds || i > 0) {
      if (gates[i].park()) nodes.block(gates[i], [this] { all_wait(); });
      require(gates[i].is_stopped(), "it goes on when it is stopped");
    }
    forget(2);
    nodes.end([this] { all_wait(); });
  }
  void end() { require(found == 1, "it is found, once"); }
};

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

// Threads ask for objects of one page, the same or others.
template <int Threads, bool Same>
struct Tables {
  static constexpr int threads = Threads;
  struct Object {
    explicit Object(int by) : data(by) {}
    Plain<int> data;
  };
  wormcube::LazyTable<Object, Explored> table{2};
  std::array<Plain<Object*>, Threads> found;
  void thread(int i) {
    const std::size_t index = Same ? 0 : static_cast<std::size_t>(i) % 2;
    for (int round = 0; round < 2; ++round) {
      Object& object = table.get(index, i + 1);
      require(object.data > 0, "it is made");
      require(round == 0 || found[i] == &object, "it stays");
      found[i] = &object;
    }
    table.mark(index, 7);
  }
  void end() {
    int objects = 0, marked = 0;
    table.each([&](const Object&) { ++objects; });
    table.each_marked(7, [&](const Object&) { ++marked; });
    require(objects == (Same ? 1 : 2) && marked == objects, "each is there once");
    if (Same) require(found[0] == found[1], "all have the same");
  }
};

}  // namespace
}  // namespace programs

namespace {

template <class World>
Scenario quick(const char* name, const Bounds& bounds = {}) {
  return {name, false, bounds, explore<World>};
}
template <class World>
Scenario wide(const char* name, const Bounds& bounds = {}) {
  return {name, true, bounds, explore<World>};
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  using programs::Waits;
  constexpr Bounds fewer{.stale_reads = 0, .early_returns = 0};
  // Addresses of what lies in memory of its own differ from execution to
  // execution.
  constexpr Bounds alone{.merge = false};
  static const std::vector<Scenario> all{
      quick<programs::Holders<2, 2>>("reservation: 2 threads, 2 waiters each"),
      quick<programs::Holders<3, 1>>("reservation: 3 threads, a waiter each"),
      wide<programs::Holders<3, 2>>("reservation: 3 threads, 2 waiters each", fewer),
      quick<programs::Worms<2>>("worms: 2 through two channels of one flit"),
      quick<programs::Worms<3>>("worms: 3 through two channels of one flit", fewer),
      wide<programs::Worms<3>>("worms: 3 through two channels of one flit, wider"),
      quick<programs::Boxes<2, 2, 2>>("inbox: 2 threads, 2 rounds, 2 items"),
      quick<programs::Boxes<3, 1, 1>>("inbox: 3 threads, a round, an item each"),
      quick<programs::Boxes<3, 2, 1>>("inbox: 3 threads, 2 rounds, an item each"),
      quick<programs::Arrivals<2, 2>>("gate: 2 threads, 2 steps"),
      quick<programs::Arrivals<3, 1>>("gate: 3 threads, a step", fewer),
      wide<programs::Arrivals<3, 2>>("gate: 3 threads, 2 steps"),
      quick<programs::Stopped<2>>("gate: stopped, 2 threads"),
      quick<programs::Stopped<3>>("gate: stopped, 3 threads", fewer),
      wide<programs::Stopped<3>>("gate: stopped, 3 threads, wider"),
      quick<programs::GivenBack<2, false>>("gate and inbox: 2 threads, an item"),
      quick<programs::GivenBack<2, true>>("gate and inbox: 2 threads, 2 items", fewer),
      quick<programs::Completes<Waits::awaits, true>>("completion: awaited from the start"),
      quick<programs::Completes<Waits::awaits, false>>("completion: awaited later"),
      quick<programs::Completes<Waits::looks, false>>("completion: looked at"),
      quick<programs::Completes<Waits::watches, false>>("completion: watched"),
      quick<programs::ThreadsWait<2, false>>("threads that all wait: 2", fewer),
      wide<programs::ThreadsWait<3, true>>("threads that all wait: 2 of 3, one ends", fewer),
      quick<programs::Lists<1>>("work lists: 2 workers, one item, 1 hop", fewer),
      wide<programs::Lists<2>>("work lists: 2 workers, one item, 2 hops"),
      quick<programs::Dozes>("work lists: a worker that dozes, 2 items"),
      quick<programs::Workers<false, false>>("workers: 2, a message", fewer),
      quick<programs::Workers<true, false>>("workers: 2, a deadlock", fewer),
      quick<programs::Workers<true, true>>("workers: one with 2 nodes, one with none, a deadlock",
                                           fewer),
      wide<programs::Workers<false, false>>("workers: 2, a message, wider"),
      wide<programs::Workers<true, false>>("workers: 2, a deadlock, wider"),
      quick<programs::Tables<2, true>>("lazy table: 2 threads, the same object", alone),
      quick<programs::Tables<2, false>>("lazy table: 2 threads, an object each", alone),
  };
  return all;
}

}  // namespace interleavings
