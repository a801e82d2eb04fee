// Inboxes: each entry is taken once, in order, and none after they close.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/inbox.hpp"

#include "wormcube/tests/machine/counted.hpp"

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

TEST_CASE("an inbox accepts waiters while it is open", "[machine]") {
  Inbox inbox;
  Waiter a(Waiter::Kind::worm), b(Waiter::Kind::worm), c(Waiter::Kind::worm);
  CHECK_FALSE(inbox.put(a));
  CHECK(inbox.close() == nullptr);
  inbox.open();
  CHECK(inbox.take() == nullptr);
  CHECK(inbox.put(a));
  CHECK(inbox.put(b));
  CHECK(inbox.take() == &a);
  CHECK(a.next == &b);
  CHECK(b.next == nullptr);
  CHECK(inbox.put(c));
  CHECK(inbox.close() == &c);
  CHECK_FALSE(inbox.put(a));
}

TEST_CASE("an inbox of one thread does the same, and locks nothing", "[machine]") {
  using machine_tests::changes;
  for (const bool one_thread : {false, true}) {
    CAPTURE(one_thread);
    BasicInbox<Waiter, machine_tests::CountedAtomics> inbox;
    if (one_thread) inbox.use_one_thread();
    const int before = changes;
    Waiter a(Waiter::Kind::worm), b(Waiter::Kind::worm);
    CHECK_FALSE(inbox.put(a));
    inbox.open();
    CHECK(inbox.put(a));
    CHECK(inbox.put(b));
    CHECK(inbox.take() == &a);
    CHECK(a.next == &b);
    CHECK(inbox.put(a));
    CHECK(inbox.close() == &a);
    CHECK_FALSE(inbox.put(b));
    CHECK(changes - before == (one_thread ? 0 : 5));
  }
}

// Three threads repeatedly put what they have into an inbox that opens and closes. They keep what
// it refuses. In the end each waiter has been taken as often as it was put.
TEST_CASE("an inbox loses no waiter and gives none twice", "[network][stress]") {
  constexpr int others = 3, rounds = 1000;  // each takes turns of all threads
  struct Item : Waiter {
    Item() : Waiter(Kind::worm) {}
    std::atomic<bool> away{false};
    int put = 0, taken = 0;
  };
  Inbox inbox;
  std::deque<Item> items(others);
  std::atomic<int> ended{0};
  {
    std::vector<std::jthread> running;
    for (Item& item : items) {
      running.emplace_back([&] {
        for (int i = 0; i < rounds; ++i) {
          item.away.store(true, std::memory_order_relaxed);
          if (inbox.put(item)) {
            ++item.put;  // only this thread's
            while (item.away.load(std::memory_order_acquire)) std::this_thread::yield();
          }
        }
        ++ended;
      });
    }
    const auto take_all = [&](Waiter* waiter) {
      while (waiter != nullptr) {
        Item& item = static_cast<Item&>(*waiter);
        waiter = waiter->next;
        ++item.taken;
        item.away.store(false, std::memory_order_release);
      }
    };
    while (ended < others) {
      inbox.open();
      take_all(inbox.take());
      std::this_thread::yield();
      take_all(inbox.close());
    }
    inbox.open();
    take_all(inbox.close());
  }
  for (const Item& item : items) CHECK(item.taken == item.put);
}
