// The table of objects that are created on first use.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/lazy_table.hpp"

#include "wormcube/tests/sanitized.hpp"

#include <atomic>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using wormcube::LazyTable;

namespace {

struct Counted {
  explicit Counted(std::size_t number) : index(number) { ++alive; }
  ~Counted() { --alive; }
  std::size_t index;
  static inline std::atomic<int> alive{0};
};

}  // namespace

TEST_CASE("a lazy table has a place for each page, and no more", "[network]") {
  using Table = LazyTable<int>;
  CHECK(Table::bytes_of(0) == 0);
  CHECK(Table::bytes_of(1) == sizeof(void*));
  CHECK(Table::bytes_of(Table::page_slots) == sizeof(void*));
  CHECK(Table::bytes_of(Table::page_slots + 1) == 2 * sizeof(void*));
}

TEST_CASE("an object of a lazy table is made once, and found again", "[network]") {
  {
    LazyTable<Counted> table(1000);
    CHECK(Counted::alive == 0);
    Counted& last = table.get(999, 999U);
    CHECK(&table.get(999, 5U) == &last);
    CHECK(last.index == 999);
    CHECK(&table.get(0, 0U) != &last);
    CHECK(Counted::alive == 2);
    std::set<std::size_t> seen;
    table.each([&](Counted& counted) { seen.insert(counted.index); });
    CHECK(seen == std::set<std::size_t>{0, 999});
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("a walk over a lazy table visits what there is, not its slots", "[network]") {
  constexpr std::size_t slots = 200'000'000;
  LazyTable<Counted> table(slots);
  for (std::size_t i = 0; i < 10; ++i) table.get(i * (slots / 10), i);
  // With sanitizers, 1000 walks over 2e8 slots would take minutes.
  constexpr std::size_t walks = sanitized ? 100 : 1000;
  std::size_t visits = 0;
  for (std::size_t walk = 0; walk < walks; ++walk) table.each([&](Counted&) { ++visits; });
  CHECK(visits == 10 * walks);
  CHECK(LazyTable<Counted>::bytes_of(slots) < 10'000'000);
}

TEST_CASE("threads that ask for one object at once get the same one", "[network]") {
  constexpr std::size_t slots = 2000, threads = 4;
  LazyTable<Counted> table(slots);
  std::vector<std::vector<Counted*>> found(threads);
  std::atomic<std::size_t> ready{0};
  {
    std::vector<std::jthread> all;
    for (std::size_t t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        ++ready;
        while (ready < threads) std::this_thread::yield();
        for (std::size_t i = 0; i < slots; ++i) found[t].push_back(&table.get(i, i));
      });
    }
  }
  for (std::size_t t = 1; t < threads; ++t) CHECK(found[t] == found[0]);
  CHECK(Counted::alive == static_cast<int>(slots));
  std::set<const Counted*> seen;
  table.each([&](Counted& counted) { seen.insert(&counted); });
  CHECK(seen.size() == slots);
}
