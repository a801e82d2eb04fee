// Arrays in huge pages: correct at either size, refused without enough memory.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/huge_pages.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

TEST_CASE("an array is whole and aligned, in the heap or in pages of its own", "[host]") {
  struct alignas(64) Line {
    std::uint64_t number = 7;
  };
  constexpr std::size_t in_pages = least_huge_bytes / sizeof(Line);
  for (const std::size_t count : {std::size_t{1}, in_pages - 1, in_pages, 3 * in_pages + 5}) {
    CAPTURE(count);
    std::vector<Line, HugePages<Line>> lines(count);
    CHECK(reinterpret_cast<std::uintptr_t>(lines.data()) % 64 == 0);
    bool right = true;
    for (std::size_t i = 0; i < count; ++i) {
      right = right && lines[i].number == 7;
      lines[i].number = i;
    }
    for (std::size_t i = 0; i < count; ++i) right = right && lines[i].number == i;
    CHECK(right);
  }
}

TEST_CASE("pages that there are not are refused", "[host]") {
  CHECK_THROWS_AS(take_pages(std::size_t{1} << 62), std::bad_alloc);
  HugePages<std::uint64_t> allocator;
  CHECK_THROWS_AS(allocator.allocate(std::numeric_limits<std::size_t>::max() / 8), std::bad_alloc);
  CHECK_THROWS_AS(allocator.allocate(std::numeric_limits<std::size_t>::max() / 8 + 1),
                  std::bad_alloc);
}
