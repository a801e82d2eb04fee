// Reservations, and channels that worms reserve.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/reservation.hpp"

#include "wormcube/tests/interleavings/scenarios/programs.hpp"

#include <array>

namespace interleavings {
namespace programs {
namespace {

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

}  // namespace
}  // namespace programs

std::vector<Scenario> reservation_scenarios() {
  return {
      quick<programs::Holders<2, 2>>("reservation: 2 threads, 2 waiters each"),
      quick<programs::Holders<3, 1>>("reservation: 3 threads, a waiter each"),
      wide<programs::Holders<3, 2>>("reservation: 3 threads, 2 waiters each", fewer),
      quick<programs::Worms<2>>("worms: 2 through two channels of one flit"),
      quick<programs::Worms<3>>("worms: 3 through two channels of one flit", fewer),
      wide<programs::Worms<3>>("worms: 3 through two channels of one flit, wider"),
  };
}

}  // namespace interleavings
