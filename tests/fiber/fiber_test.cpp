// Fibers: order, state, exceptions, threads, stacks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/fiber/fiber.hpp"

#include "wormcube/runtime/base/fiber/strand.hpp"
#include "wormcube/tests/schedule/dies.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using wormcube::Fiber;
using wormcube::IdleStrands;
using wormcube::Stacks;
using wormcube::Strand;

namespace {

constexpr std::size_t stack = std::size_t{64} << 10;

struct Count {
  explicit Count(int& alive) : alive_(alive) { ++alive_; }
  ~Count() { --alive_; }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;
  int& alive_;
};

/// Writes at least this many bytes of the stack, in frames of a little over 200.
[[gnu::noinline]] int fill_frames(std::size_t bytes) {
  volatile char frame[200];
  frame[0] = 1;
  const int below = bytes > 200 ? fill_frames(bytes - 200) : 0;
  return below + frame[0];
}

}  // namespace

TEST_CASE("a fiber runs from suspend to suspend and keeps its locals", "[fiber]") {
  std::vector<int> events;
  std::unique_ptr<Fiber> fiber;
  fiber = std::make_unique<Fiber>(stack, [&] {
    for (int i = 0; i < 3; ++i) {
      events.push_back(i);
      fiber->suspend();
    }
  });
  CHECK(events.empty());
  for (int i = 0; i < 3; ++i) {
    fiber->resume();
    CHECK_FALSE(fiber->done());
    events.push_back(10 + i);
  }
  fiber->resume();
  CHECK(fiber->done());
  CHECK(events == std::vector{0, 10, 1, 11, 2, 12});
}

TEST_CASE("a fiber that never ran is simply destroyed", "[fiber]") {
  int alive = 0;
  {
    const auto count = std::make_shared<Count>(alive);
    const Fiber fiber(stack, [count] { FAIL("not resumed"); });
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("thousands of fibers take turns", "[fiber]") {
  const int fibers = sanitized ? 500 : 5000, rounds = 20;
  std::vector<long> sums(static_cast<std::size_t>(fibers), 0);
  std::deque<Fiber> all;
  for (int f = 0; f < fibers; ++f) {
    all.emplace_back(stack, [&, f] {
      for (long round = 0; round < rounds; ++round) {
        sums[static_cast<std::size_t>(f)] += f * round;
        all[static_cast<std::size_t>(f)].suspend();
      }
    });
  }
  for (int round = 0; round <= rounds; ++round) {
    for (Fiber& fiber : all) fiber.resume();
  }
  bool right = true;
  for (int f = 0; f < fibers; ++f) {
    right = right && all[static_cast<std::size_t>(f)].done() &&
            sums[static_cast<std::size_t>(f)] == f * (rounds * (rounds - 1L) / 2);
  }
  CHECK(right);
}

TEST_CASE("fibers nest: one resumes another", "[fiber]") {
  std::string events;
  std::unique_ptr<Fiber> inner, outer;
  inner = std::make_unique<Fiber>(stack, [&] {
    events += 'i';
    inner->suspend();
    events += 'I';
  });
  outer = std::make_unique<Fiber>(stack, [&] {
    events += 'o';
    inner->resume();
    outer->suspend();
    inner->resume();
    events += 'O';
  });
  outer->resume();
  events += '|';
  outer->resume();
  CHECK(events == "oi|IO");
  CHECK((inner->done() && outer->done()));
}

TEST_CASE("from inside a nested fiber the outer one may suspend too", "[fiber]") {
  // On which stack code runs shows where that stack would overflow to.
  const auto is_on = [](const Stacks& stacks) {
    return Fiber::is_below_stack(stacks[0].data() - 1);
  };
  const Stacks of_outer(1, stack), of_inner(1, stack);
  constexpr int rounds = 1000;
  int alive = 0, in_inner = 0, in_outer = 0;
  std::string caught;
  std::unique_ptr<Fiber> inner, outer;
  // Entered on the inner fiber and left there, however often the outer one is resumed in between.
  const std::function<void(int)> wait = [&](int depth) {
    const Count count(alive);
    if (depth > 0) return wait(depth - 1);
    outer->suspend();
  };
  inner = std::make_unique<Fiber>(of_inner, 0, [&] {
    for (int i = 0; i < rounds; ++i) {
      try {
        throw std::runtime_error("kept");
      } catch (const std::exception& error) {
        wait(8);
        caught = error.what();
      }
      if (is_on(of_inner) && !is_on(of_outer)) ++in_inner;
      inner->suspend();
    }
  });
  outer = std::make_unique<Fiber>(of_outer, 0, [&] {
    while (!inner->done()) {
      inner->resume();
      if (is_on(of_outer) && !is_on(of_inner)) ++in_outer;
      outer->suspend();
    }
  });
  int resumed = 0;
  for (; !outer->done(); ++resumed) {
    outer->resume();
    CHECK_FALSE((is_on(of_outer) || is_on(of_inner)));
    if (resumed % 2 == 0 && !inner->done()) CHECK(alive == 9);
  }
  CHECK(resumed == 2 * rounds + 2);
  CHECK(in_inner == rounds);
  CHECK(in_outer == rounds + 1);
  CHECK(alive == 0);
  CHECK(caught == "kept");
}

TEST_CASE("an exception inside a fiber unwinds its frames only", "[fiber]") {
  int alive = 0;
  std::string caught;
  std::unique_ptr<Fiber> fiber;
  fiber = std::make_unique<Fiber>(stack, [&] {
    try {
      const Count a(alive);
      fiber->suspend();
      const Count b(alive);
      throw std::runtime_error("inside");
    } catch (const std::exception& error) {
      caught = error.what();
    }
  });
  fiber->resume();
  CHECK(alive == 1);
  fiber->resume();
  CHECK(alive == 0);
  CHECK(caught == "inside");
  CHECK(fiber->done());
}

// The C++ runtime stacks the exceptions being handled per thread. Two fibers that suspend inside
// their handlers would pop each other's if the switch did not carry them along.
TEST_CASE("handlers may suspend: each fiber rethrows its own exception", "[fiber]") {
  constexpr int fibers = 3;
  std::array<std::string, fibers> rethrown;
  std::array<int, fibers> uncaught{};
  std::deque<Fiber> all;
  for (std::size_t f = 0; f < fibers; ++f) {
    all.emplace_back(stack, [&, f] {
      try {
        try {
          throw std::runtime_error(std::to_string(f));
        } catch (...) {
          all[f].suspend();
          throw;
        }
      } catch (const std::exception& error) {
        rethrown[f] = error.what();
        uncaught[f] = std::uncaught_exceptions();
      }
    });
  }
  for (Fiber& fiber : all) fiber.resume();
  try {
    throw std::runtime_error("outside");
  } catch (...) {
    for (Fiber& fiber : all) fiber.resume();  // in the order entered, not in the reverse
    CHECK_THROWS_WITH(std::rethrow_exception(std::current_exception()), "outside");
  }
  CHECK(rethrown == std::array<std::string, fibers>{"0", "1", "2"});
  CHECK(uncaught == std::array<int, fibers>{0, 0, 0});
  CHECK(std::uncaught_exceptions() == 0);
}

TEST_CASE("one thread after another may resume a fiber", "[fiber]") {
  int sum = 0;
  std::unique_ptr<Fiber> fiber;
  fiber = std::make_unique<Fiber>(stack, [&] {
    for (int i = 1; i <= 4; ++i) {
      sum += i;
      fiber->suspend();
    }
  });
  for (int i = 0; i < 5; ++i) std::thread([&] { fiber->resume(); }).join();
  CHECK(fiber->done());
  CHECK(sum == 10);
}

TEST_CASE("two threads run fibers of their own at the same time", "[fiber]") {
  const auto work = [](long& sum) {
    std::deque<Fiber> all;
    for (int f = 0; f < 20; ++f) {
      all.emplace_back(stack, [&, f] {
        for (int i = 0; i < 50; ++i) {
          sum += f;
          all[static_cast<std::size_t>(f)].suspend();
        }
      });
    }
    for (int i = 0; i <= 50; ++i) {
      for (Fiber& fiber : all) fiber.resume();
    }
  };
  long first = 0, second = 0;
  std::thread other([&] { work(first); });
  work(second);
  other.join();
  CHECK(first == 190 * 50);
  CHECK(second == 190 * 50);
}

TEST_CASE("stacks of strands count while they live", "[fiber]") {
  const std::size_t before = IdleStrands::stacks();
  for (int round = 0; round < 3; ++round) {
    std::thread other([&] {
      std::vector<std::unique_ptr<Strand>> strands;
      for (int i = 0; i < 40; ++i) strands.push_back(IdleStrands::take());
      CHECK(IdleStrands::stacks() >= before + 40);
      while (!strands.empty()) {
        IdleStrands::give_back(std::move(strands.back()));
        strands.pop_back();
      }
      CHECK(IdleStrands::stacks() >= before + 40);
    });
    other.join();
    CHECK(IdleStrands::stacks() == before);
  }
}

TEST_CASE("a fiber has the stack it asked for", "[fiber]") {
  long sum = 0;
  Fiber fiber(std::size_t{1} << 20, [&] {
    std::array<unsigned char, 900'000> data;
    std::iota(data.begin(), data.end(), static_cast<unsigned char>(0));
    const volatile unsigned char* bytes = data.data();
    for (std::size_t i = 0; i < data.size(); i += 4096) sum += bytes[i];
  });
  fiber.resume();
  CHECK(sum == 0);
}

TEST_CASE("a stack that overflows dies at its guard page", "[fiber]") {
  if (sanitized) return;
  CHECK(dies([] {
    Fiber fiber(stack, [] {
      std::array<char, stack> data;
      volatile char* bytes = data.data();
      for (std::size_t i = stack; i-- > 0;) bytes[i] = 1;
    });
    fiber.resume();
  }));
  CHECK(dies([] {  // beyond the first page below the stack
    Fiber fiber(stack, [] {
      std::array<char, stack + 100'000> data;
      volatile char* bytes = data.data();
      bytes[0] = 1;
    });
    fiber.resume();
  }));
  CHECK_FALSE(dies([] {
    Fiber fiber(stack, [] {
      std::array<char, stack / 2> data;
      volatile char* bytes = data.data();
      for (std::size_t i = stack / 2; i-- > 0;) bytes[i] = 1;
    });
    fiber.resume();
  }));
}

TEST_CASE("a stack without a guard that has overflowed ends the process when its fiber stops",
          "[fiber]") {
  if (sanitized) return;
  const Stacks two(2, stack, false);
  REQUIRE(two.guard_bytes() == 0);
  const auto use = [&](std::size_t bytes) {
    return end_of([&two, bytes] {
      Fiber* inside = nullptr;
      Fiber lower(two, 0, [] {});
      Fiber upper(two, 1, [&] {
        fill_frames(bytes);
        inside->suspend();
      });
      inside = &upper;
      upper.resume();
    });
  };
  const End over = use(stack + 10'000);
  CHECK(over.signal == SIGABRT);
  CHECK_THAT(over.text, Catch::Contains("its stack of 65536 bytes has overflowed; use larger"));
  CHECK(use(stack / 2).signal == 0);
}
