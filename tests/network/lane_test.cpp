// Lanes: a bounded queue of flits, at any capacity from one, and their counts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/lane.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

struct OneLane {
  explicit OneLane(std::size_t capacity) : lane(channel, capacity, 0, 1, LinkFault::none) {}
  VirtualChannel channel{7};
  LinkLane lane;
};

// Each of its parts differs from its neighbours'.
Flit numbered(std::uint64_t number) {
  Flit flit{};
  std::memcpy(flit.payload.data(), &number, sizeof number);
  flit.bytes = static_cast<std::uint8_t>(number % 64 + 1);
  flit.tail = number % 3 == 0;
  return flit;
}

bool is(const Flit& flit, std::uint64_t number) {
  const Flit right = numbered(number);
  return flit.payload == right.payload && flit.bytes == right.bytes && flit.tail == right.tail;
}

}  // namespace

TEST_CASE("a lane holds exactly its capacity and gives flits back in order", "[network]") {
  const std::size_t capacity = GENERATE(1, 2, 3, 64);
  CAPTURE(capacity);
  OneLane one(capacity);
  LinkLane& lane = one.lane;
  CHECK_FALSE(lane.has_flits());
  std::uint64_t pushed = 0, popped = 0;
  bool in_order = true;
  // Far more often round than it is long, with each number of flits left inside.
  for (std::size_t left = 0; left < capacity; ++left) {
    for (int round = 0; round < 5; ++round) {
      for (; pushed - popped < capacity; ++pushed) {
        in_order &= lane.has_room();
        lane.push(numbered(pushed), 1);
      }
      in_order &= !lane.has_room();
      for (; pushed - popped > left; ++popped) {
        in_order &= lane.has_flits() && is(lane.front(), popped);
        lane.pop();
      }
    }
  }
  CHECK(in_order);
}

TEST_CASE("a lane that is reset is empty, its counts are of one run", "[network]") {
  OneLane one(3);
  LinkLane& lane = one.lane;
  for (int i = 0; i < 3; ++i) lane.push(numbered(i), 1);
  lane.count_wait(1);
  CHECK(lane.occupancy() == std::vector<std::uint64_t>{1, 1, 1});
  CHECK(lane.waited_in(1) == 1);
  lane.reset();
  CHECK_FALSE(lane.has_flits());
  lane.push(numbered(9), 2);
  CHECK(lane.is_used_in(2));
  CHECK(lane.occupancy() == std::vector<std::uint64_t>{1});
  CHECK(lane.waited_in(2) == 0);
}

TEST_CASE("two threads at the ends of a lane pass every flit once and in order",
          "[network][stress]") {
  const std::size_t capacity = GENERATE(1, 2, 3, 64);
  CAPTURE(capacity);
  const std::uint64_t flits = 400 * capacity;  // where the ends share a core: this many turns
  OneLane one(capacity);
  LinkLane& lane = one.lane;
  std::jthread producer([&] {
    for (std::uint64_t i = 0; i < flits; ++i) {
      while (!lane.has_room()) std::this_thread::yield();
      lane.push(numbered(i), 1);
    }
  });
  bool in_order = true;
  for (std::uint64_t i = 0; i < flits; ++i) {
    while (!lane.has_flits()) std::this_thread::yield();
    in_order &= is(lane.front(), i);
    lane.pop();
  }
  CHECK(in_order);
  CHECK_FALSE(lane.has_flits());
}
