// The arena: the same memory again, call after call.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/node/arena.hpp"

#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

TEST_CASE("the same pieces come from the same memory from the third call on", "[machine]") {
  Arena arena;
  std::vector<std::vector<const std::byte*>> calls;
  for (int call = 0; call < 6; ++call) {
    std::vector<Span> pieces;
    std::vector<const std::byte*>& places = calls.emplace_back();
    for (const Bytes bytes : {10'000, 10'000, 0, 70'000, 1}) {
      pieces.push_back(arena.acquire(bytes, Purpose::blocks));
      places.push_back(pieces.back().data());
      CHECK(reinterpret_cast<std::uintptr_t>(places.back()) % 64 == 0);
    }
    while (!pieces.empty()) {
      arena.release(pieces.back(), Purpose::blocks);
      pieces.pop_back();
    }
  }
  CHECK(calls[2] == calls[1]);
  CHECK(calls[5] == calls[1]);
  CHECK(arena.peak_bytes() == 90'001);
  arena.restart();
  CHECK(arena.peak_bytes() == 0);
}

TEST_CASE("calls beside what is out all the time need no new memory from the third on",
          "[machine]") {
  Arena arena;
  const Span kept = arena.acquire(3000, Purpose::staging);  // as what all calls work on
  std::vector<std::vector<const std::byte*>> calls(6);
  for (auto& places : calls) {
    const Span first = arena.acquire(5000, Purpose::blocks);
    const Span second = arena.acquire(5000, Purpose::staging);
    places = {first.data(), second.data()};
    arena.release(second, Purpose::staging);
    arena.release(first, Purpose::blocks);
  }
  CHECK(calls[2] == calls[1]);
  CHECK(calls[5] == calls[1]);
  CHECK(calls[1][1] - calls[1][0] == 5056);  // one chunk: a new one each time might lie there again
  arena.release(kept, Purpose::staging);
}

TEST_CASE("pieces that are out stay where they are, whatever else comes and goes", "[machine]") {
  Arena arena;
  const Span kept = arena.acquire(100, Purpose::staging);
  kept[99] = std::byte{7};
  for (int i = 0; i < 3; ++i) {
    const Span first = arena.acquire(5000, Purpose::staging);
    const Span second = arena.acquire(50'000, Purpose::staging);
    first[0] = second[0] = std::byte{1};
    arena.release(first, Purpose::staging);  // not the last one first
    arena.release(second, Purpose::staging);
  }
  CHECK(kept[99] == std::byte{7});
  CHECK(arena.peak_bytes() == 55'100);
  arena.release(kept, Purpose::staging);
}
