// A worker's queue: the order of its blocks, and that each gets its turn.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/executor/block_queue.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

struct Turn {
  int number = 0;
  TaskBlock<Turn>* block = nullptr;
  Turn* next = nullptr;
};

/// Tasks, numbered from 0, in blocks; none is fresh.
struct Turns {
  Turns(int tasks, std::size_t block) : all(static_cast<std::size_t>(tasks)) {
    for (int i = 0; i < tasks; ++i) all[i].number = i;
    queue.own(all, {}, block);
  }
  void append(std::initializer_list<int> numbers) {
    for (const int i : numbers) queue.append(all[i]);
  }
  /// The next this many, in their order; -1: nothing can go on.
  std::vector<int> take(int count) {
    std::vector<int> numbers;
    for (int i = 0; i < count; ++i) {
      const Turn* const turn = queue.next();
      numbers.push_back(turn == nullptr ? -1 : turn->number);
    }
    return numbers;
  }
  std::vector<Turn> all;
  BlockQueue<Turn> queue;
};

using Order = std::vector<int>;

}  // namespace

TEST_CASE("tasks that have not run go on first, a block at a time, the last block may be smaller",
          "[machine]") {
  Turns turns(5, 2);
  CHECK(turns.take(1) == Order{-1});
  turns.queue.start();
  CHECK(turns.take(1) == Order{0});
  turns.append({0});  // ready, but behind the one that has not run
  CHECK(turns.queue.size() == 1);
  CHECK(turns.take(6) == Order{1, 0, 2, 3, 4, -1});
  turns.queue.start();
  CHECK(turns.take(6) == Order{4, 0, 1, 2, 3, -1});  // the block whose turn it was goes on
}

TEST_CASE("a block has its turn until none of its tasks can go on", "[machine]") {
  Turns turns(6, 2);
  turns.append({4, 0, 5, 2});
  CHECK(turns.queue.size() == 4);
  CHECK(turns.take(2) == Order{0, 4});  // block 0 had its turn
  CHECK(turns.queue.ahead() == &turns.all[5]);
  turns.append({3, 4, 0});
  CHECK(turns.take(4) == Order{5, 4, 2, 3});
  CHECK(turns.queue.ahead() == nullptr);
  CHECK(turns.take(2) == Order{0, -1});
  CHECK(turns.queue.size() == 0);
}

TEST_CASE("a node that yields continues after its block and the waiting blocks have run",
          "[machine]") {
  Turns turns(4, 2);
  turns.queue.append_later(turns.all[0]);
  turns.append({1, 2});
  CHECK(turns.queue.size() == 3);
  CHECK(turns.take(2) == Order{1, 2});
  turns.queue.append_later(turns.all[2]);
  CHECK(turns.take(3) == Order{0, 2, -1});
  turns.queue.append_later(turns.all[3]);  // of the only block that has anything
  CHECK(turns.take(2) == Order{3, -1});
}

TEST_CASE("tasks that can always go on starve no other", "[machine]") {
  Turns turns(6, 2);
  turns.append({0, 1, 2, 4});
  std::map<int, int> count;
  constexpr int rounds = static_cast<int>(BlockQueue<Turn>::most_rounds);
  for (int i = 0; i < 3 * 2 * rounds; ++i) {
    Turn* const turn = turns.queue.next();
    REQUIRE(turn != nullptr);
    ++count[turn->number];
    turns.queue.append(*turn);
  }
  // A turn of each block: as many for all of it, however many of its tasks can go on.
  CHECK(count == std::map<int, int>{{0, rounds}, {1, rounds}, {2, 2 * rounds}, {4, 2 * rounds}});
  CHECK(turns.queue.size() == 4);
}

TEST_CASE("one block is a queue, with tasks and without", "[machine]") {
  Turns none(0, 8), turns(3, 8);
  none.queue.start();
  CHECK(none.take(1) == Order{-1});
  turns.append({2, 0, 1});
  CHECK(turns.take(4) == Order{2, 0, 1, -1});
  for (int i = 0; i < 100; ++i) {
    turns.append({1});
    CHECK(turns.take(2) == Order{1, -1});
  }
}
