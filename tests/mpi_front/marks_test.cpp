// Marked elements: what handles remember, and that bytes of something else are none.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/prove/marks.hpp"

#include "wormcube/apps/mpi/engine/observers/rounds.hpp"

#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::mpi;

TEST_CASE("a handle remembers whose elements it combines, in which order", "[mpi]") {
  Marks marks(4);
  const Handle zero = marks.input(0, 0, 7), one = marks.input(1, 0, 7), two = marks.input(2, 0, 7);
  const Handle both = marks.combined(1, zero, one);
  CHECK(marks.text(both, false) == "{0..1}");
  CHECK(marks.text(marks.combined(2, both, two), false) == "{0..2}");
  CHECK(marks.text(marks.combined(2, two, both), false) == "{2 0..1}");
  const auto trouble = [&](Handle left, Handle right, bool in_order) {
    return marks.trouble(marks[*marks.number_of(marks.combined(0, left, right))], in_order);
  };
  CHECK(trouble(both, two, true).empty());
  CHECK(trouble(zero, two, false).empty());
  CHECK(trouble(zero, two, true) == "no result in the order of ranks has this part");
  CHECK(trouble(both, one, false) == "rank 1's element is in both");
  CHECK(trouble(zero, marks.input(1, 0, 8), false) == "they are of different elements");
  CHECK(trouble(zero, marks.input(1, 3, 7), false) == "they are of different blocks");
  CHECK(trouble(zero, marks.unwritten(1, 7), false) == "one of them was never written");
  CHECK(trouble(zero, 12345, false) == "one of them is not an element");
}

TEST_CASE("bytes of two handles, sums of handles and handles of earlier calls are no marks",
          "[mpi]") {
  Marks marks(3);
  std::vector<Handle> all;
  for (Rank i = 0; i < 100; ++i) all.push_back(marks.input(0, 0, i));
  int taken_for_marks = 0;
  for (const Handle a : all) {
    CHECK(marks.number_of(a).has_value());
    for (const Handle b : all) {
      if (a == b) continue;
      for (unsigned bytes = 1; bytes < 8; ++bytes) {
        const std::uint64_t low = (std::uint64_t{1} << 8 * bytes) - 1;
        const Handle mixture = (a & low) | (b & ~low);
        if (mixture != a && mixture != b && marks.number_of(mixture)) ++taken_for_marks;
      }
      for (const Handle computed : {a ^ b, a + b, a - b, a * b, a + 1}) {
        if (marks.number_of(computed)) ++taken_for_marks;
      }
    }
  }
  CHECK(taken_for_marks == 0);
  CHECK_FALSE(marks.number_of(0));
  marks.begin_call();
  CHECK_FALSE(marks.number_of(all[0]));
  CHECK(marks.is_earlier(all[0]));
  CHECK(marks.text(all[0], false) == "an element of an earlier call");
  CHECK(marks.text(0x12, false) == "a value that is not an element (bytes 0x12)");
}

TEST_CASE("a message is in a later round than what its sender has received", "[mpi]") {
  // 0 sends to 1, which passes it on to 2; meanwhile 0 sends to 2.
  const std::vector<MessageEnds> messages{
      {0, 1, 1, 2, 3, 4, false, false},
      {1, 2, 6, 7, 5, 9, false, false},
      {0, 2, 8, 11, 10, 12, false, false},
  };
  std::vector<RankMoment> moments{{1, 3}, {1, 5}, {2, 13}};
  CHECK(rounds_of(messages, 3, moments) == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(moments[0].round == 0);
  CHECK(moments[1].round == 1);
  CHECK(moments[2].round == 3);
}
