// Virtual channels: a bounded queue of flits, at any capacity from one.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/channel.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

// Of what a flit says nothing is like its neighbours.
Flit numbered(std::uint64_t number) {
  return {.bytes = static_cast<std::uint32_t>(number), .tail = number % 3 == 0};
}

bool is(const Flit& flit, std::uint64_t number) {
  return flit.bytes == number && flit.tail == (number % 3 == 0);
}

}  // namespace

TEST_CASE("a channel holds exactly its capacity and gives flits back in order", "[network]") {
  const std::size_t capacity = GENERATE(1, 2, 3, 64);
  CAPTURE(capacity);
  VirtualChannel channel(7);
  channel.make_queue(capacity);
  CHECK(channel.id() == 7);
  Flit flit;
  CHECK_FALSE(channel.try_pop(flit));
  std::uint64_t pushed = 0, popped = 0;
  bool in_order = true;
  // Far more often round than it is long, with each number of flits left inside.
  for (std::size_t left = 0; left < capacity; ++left) {
    for (int round = 0; round < 5; ++round) {
      while (pushed - popped < capacity) {
        in_order &= channel.try_push(numbered(pushed));
        ++pushed;
      }
      in_order &= !channel.try_push(numbered(0));
      while (pushed - popped > left) {
        in_order &= channel.try_pop(flit) && is(flit, popped);
        ++popped;
      }
    }
  }
  CHECK(in_order);
}

TEST_CASE("a channel that is reset is empty and free, its counts are of one run", "[network]") {
  VirtualChannel channel(0);
  channel.make_queue(2);
  Waiter first(Waiter::Kind::worm), second(Waiter::Kind::worm);
  CHECK(channel.acquire(first));
  CHECK_FALSE(channel.acquire(second));
  CHECK(channel.try_push(numbered(1)));
  CHECK(channel.is_new(7));
  CHECK_FALSE(channel.is_new(7));
  channel.count_message(100);
  channel.count_message(28);
  channel.count_blocked();
  CHECK(channel.messages() == 2);
  CHECK(channel.bytes() == 128);
  CHECK(channel.blocked() == 1);
  channel.reset();
  Flit flit;
  CHECK_FALSE(channel.try_pop(flit));
  CHECK(channel.acquire(second));
  CHECK(channel.is_used_in(7));
  CHECK_FALSE(channel.is_used_in(8));
  CHECK(channel.is_new(8));
  CHECK((channel.messages() == 0 && channel.bytes() == 0 && channel.blocked() == 0));
  CHECK(channel.try_push(numbered(1)));  // and may be destroyed with a flit inside
}

TEST_CASE("two threads at the ends of a channel pass every flit once and in order",
          "[network][stress]") {
  const std::size_t capacity = GENERATE(1, 2, 3, 64);
  CAPTURE(capacity);
  const std::uint64_t flits = 400 * capacity;  // where the ends share a core: this many turns
  VirtualChannel channel(0);
  channel.make_queue(capacity);
  std::jthread producer([&] {
    for (std::uint64_t i = 0; i < flits; ++i) {
      while (!channel.try_push(numbered(i))) std::this_thread::yield();
    }
  });
  bool in_order = true;
  Flit flit;
  for (std::uint64_t i = 0; i < flits; ++i) {
    while (!channel.try_pop(flit)) std::this_thread::yield();
    in_order &= is(flit, i);
  }
  CHECK(in_order);
  CHECK_FALSE(channel.try_pop(flit));
}
