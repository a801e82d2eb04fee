// Work lists: each entry is taken once, and all are idle exactly when no work is left.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/executor/work_list.hpp"

#include "wormcube/tests/machine/support.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace machine_tests;

namespace {

struct Token {
  Token* next = nullptr;
  int hops = 0;  // that it still makes
};

}  // namespace

TEST_CASE("a work list returns its entries, the oldest first", "[machine]") {
  Busy busy;
  WorkList<Token> list(busy);
  busy.begin();
  Token a, b;
  CHECK(list.take() == nullptr);
  CHECK_FALSE(list.push(a));  // its worker is busy: nobody to wake
  CHECK_FALSE(list.push(b));
  CHECK(list.has_items());
  CHECK_FALSE(list.rest());  // there is something
  CHECK(list.take() == &a);
  CHECK(a.next == &b);
  CHECK(b.next == nullptr);
  CHECK_FALSE(list.has_items());
  CHECK(busy.end());
}

TEST_CASE("who hands something to an idle worker counts it and must wake it", "[machine]") {
  Busy busy;
  WorkList<Token> list(busy);
  busy.begin();
  Token a, b;
  CHECK(list.rest());
  CHECK(list.is_idle());
  CHECK(busy.end());
  CHECK(list.push(a));
  CHECK_FALSE(list.push(b));
  CHECK_FALSE(list.is_idle());
  CHECK(list.take() == &a);
  busy.begin();
  CHECK_FALSE(busy.end());  // the worker is busy, counted once for both
  CHECK(list.rest());
  CHECK(busy.end());

  CHECK(list.rouse());
  CHECK(list.take() == nullptr);
  CHECK(list.rest());
  CHECK(busy.end());
  CHECK(list.push(a));
  CHECK_FALSE(list.rouse());  // it is not idle any more
  CHECK(list.take() == &a);
  CHECK(list.rest());
  CHECK(busy.end());
}

TEST_CASE("a dozing worker counts as busy and is woken by new work", "[machine]") {
  using Clock = std::chrono::steady_clock;
  Busy busy;
  WorkList<Token> list(busy);
  busy.begin();
  list.doze(Clock::now());  // nobody comes
  CHECK(list.take() == nullptr);
  CHECK_FALSE(list.has_items());
  Token a, b;
  CHECK_FALSE(list.push(a));
  list.doze(Clock::time_point::max());  // there is something
  CHECK(list.take() == &a);
  std::atomic<int> woken = 0;
  for (int i = 0; i < 100; ++i) {
    std::thread other([&] {
      // The worker dozes, or is about to, or has not begun.
      if (list.push(a)) {
        ++woken;
        list.wake();
      }
      static_cast<void>(list.push(b));
    });
    list.doze(Clock::time_point::max());
    other.join();
    CHECK(list.take() == &a);
    CHECK(a.next == &b);
    CHECK(b.next == nullptr);
  }
  CHECK(list.rest());
  CHECK(busy.end());
}

// Workers pass tokens to each other, each token this many times, and rest while they have none.
// Whoever finds that nobody is busy must find that all tokens have made all their hops.
TEST_CASE("nobody is busy exactly when all work is done", "[machine][stress]") {
  constexpr int count = 3, tokens = 4;
  const int rounds = 300 / patience;
  Busy busy;
  std::deque<WorkList<Token>> lists;
  for (int i = 0; i < count; ++i) {
    lists.emplace_back(busy);
    busy.begin();
  }
  std::deque<Token> all(tokens);
  std::atomic<int> arrived{0}, found{0}, wrong{0}, resting{0};
  std::atomic<bool> end{false};
  const auto work = [&](int own) {
    for (std::uint64_t dice = static_cast<std::uint64_t>(own);;) {
      for (Token* token = lists[own].take(); token != nullptr;) {
        Token* const next = token->next;
        if (token->hops-- == 0) {
          ++arrived;
        } else {
          static_cast<void>(lists[(dice = mix(dice)) % count].push(*token));
        }
        token = next;
      }
      if (!lists[own].rest()) continue;
      ++resting;
      if (busy.end()) {
        // The first time there was nothing to do yet.
        const int before = found.load();
        if (arrived != before * tokens) ++wrong;
        found = before + 1;
      }
      while (lists[own].is_idle()) {
        if (end) return;
        std::this_thread::yield();
      }
      --resting;
    }
  };
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < count; ++i) running.emplace_back(work, i);
    const auto wait_for = [&](int times) {
      while (found < times) std::this_thread::yield();
    };
    wait_for(1);
    for (int round = 0; round < rounds; ++round) {
      busy.begin();  // this thread, until it has handed out all
      for (Token& token : all) {
        token.hops = static_cast<int>(mix({static_cast<std::uint64_t>(round), 5}) % 20);
        static_cast<void>(lists[mix({static_cast<std::uint64_t>(round), 6}) % count].push(token));
      }
      if (busy.end()) {
        if (arrived != (round + 1) * tokens) ++wrong;
        ++found;
      }
      wait_for(round + 2);
    }
    while (resting < count) std::this_thread::yield();
    end = true;
  }
  CHECK(wrong == 0);
  CHECK(arrived == rounds * tokens);
  CHECK(found == rounds + 1);
}
