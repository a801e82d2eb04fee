// Reservations: who gets a resource when, alone and from many threads.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/reservation.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

TEST_CASE("a reservation is free again after its only holder releases it", "[network]") {
  Reservation reservation;
  Waiter first(Waiter::Kind::worm), second(Waiter::Kind::receive);
  for (int i = 0; i < 3; ++i) {
    CHECK(reservation.acquire(first));
    CHECK(reservation.release() == nullptr);
    CHECK(reservation.acquire(second));
    CHECK(reservation.release() == nullptr);
  }
}

TEST_CASE("reset frees a reservation and forgets who waited", "[network]") {
  Reservation reservation;
  std::deque<Waiter> waiters(4, Waiter(Waiter::Kind::worm));
  CHECK(reservation.acquire(waiters[0]));
  CHECK_FALSE(reservation.acquire(waiters[1]));
  CHECK_FALSE(reservation.acquire(waiters[2]));
  CHECK(reservation.release() == &waiters[1]);  // waiters[2] is now in the holder's queue
  CHECK_FALSE(reservation.acquire(waiters[3]));
  reservation.reset();
  CHECK(reservation.acquire(waiters[2]));
  CHECK(reservation.release() == nullptr);
}

TEMPLATE_TEST_CASE("waiters are served in the order in which they came, whatever comes between",
                   "[network]", SeveralThreads, OneThread) {
  const auto seed = GENERATE(1U, 2U, 3U, 4U);
  CAPTURE(seed);
  std::mt19937 random(seed);
  Reservation reservation;
  std::deque<Waiter> waiters(20, Waiter(Waiter::Kind::worm));
  std::vector<Waiter*> idle;
  for (Waiter& waiter : waiters) idle.push_back(&waiter);
  std::deque<Waiter*> line;  // the holder, then those who wait
  for (int i = 0; i < 5000; ++i) {
    if (!idle.empty() && (line.empty() || random() % 2 == 0)) {
      Waiter* const waiter = idle.back();
      idle.pop_back();
      REQUIRE(reservation.acquire<TestType>(*waiter) == line.empty());
      line.push_back(waiter);
    } else {
      idle.insert(idle.begin() + static_cast<std::ptrdiff_t>(random() % (idle.size() + 1)),
                  line.front());
      line.pop_front();
      REQUIRE(reservation.release<TestType>() == (line.empty() ? nullptr : line.front()));
    }
  }
}

// Each thread asks in turn for each of its waiters. Who holds the reservation alone touches the
// log; who releases it goes on for the next. Nobody is forgotten, and each thread's waiters are
// served in its order.
TEST_CASE("a reservation hammered from many threads protects what it stands for",
          "[network][stress]") {
  struct Numbered : Waiter {
    Numbered() : Waiter(Kind::worm) {}
    int thread = 0, number = 0;
  };
  constexpr int threads = 6, each = 4000;
  Reservation reservation;
  std::vector<std::vector<Numbered>> waiters(threads);
  std::vector<const Numbered*> log;  // protected by the reservation
  log.reserve(threads * each);
  {
    std::vector<std::jthread> running;
    for (int t = 0; t < threads; ++t) {
      waiters[t].resize(each);
      running.emplace_back([&, t] {
        for (int i = 0; i < each; ++i) {
          Numbered& mine = waiters[t][i];
          mine.thread = t;
          mine.number = i;
          if (!reservation.acquire(mine)) continue;
          for (Waiter* holder = &mine; holder != nullptr; holder = reservation.release()) {
            log.push_back(static_cast<Numbered*>(holder));
          }
        }
      });
    }
  }
  REQUIRE(log.size() == threads * each);
  std::vector<int> next(threads, 0);
  bool in_order = true;
  for (const Numbered* waiter : log) in_order &= waiter->number == next[waiter->thread]++;
  CHECK(in_order);
}
