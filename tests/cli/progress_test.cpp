// The line of progress, by a clock that the test sets.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/progress.hpp"

#include <catch2/catch.hpp>

using wormcube::cli::ProgressLine;
using namespace std::chrono_literals;

namespace {

const ProgressLine::Clock::time_point start{};
constexpr const char* clear = "\r\033[K";

}  // namespace

TEST_CASE("nothing is shown in the first second", "[cli][progress]") {
  ProgressLine line("fft", start, {}, 80);
  line.doing("dry run");
  CHECK(line.update(start + 999ms).empty());
  CHECK(line.clear().empty());
  CHECK(line.update(start + 1000ms) == std::string(clear) + "fft: dry run, 1 s");
}

TEST_CASE("however often it is told something, the line changes five times a second",
          "[cli][progress]") {
  ProgressLine line("run", start, {}, 80);
  int texts = 0;
  for (auto now = 0ms; now < 11s; now += 1ms) {
    line.count(now.count(), 11000);
    texts += line.update(start + now).empty() ? 0 : 1;
  }
  CHECK(texts == 50);
}

TEST_CASE("the line says what is done, how much of it, and for how long", "[cli][progress]") {
  ProgressLine line("check", start, {}, 80);
  line.doing("shift on ring:4");
  line.count(3, 12);
  CHECK(line.update(start + 2500ms) == std::string(clear) + "check: shift on ring:4, 3 of 12, 2 s");
  line.doing("mesh on ring:4");  // counts anew
  CHECK(line.update(start + 65s) == std::string(clear) + "check: mesh on ring:4, 65 s");
}

TEST_CASE("the line is taken away once, and comes back at once", "[cli][progress]") {
  ProgressLine line("check", start, {}, 80);
  REQUIRE(!line.update(start + 2s).empty());
  CHECK(line.update(start + 2100ms).empty());
  CHECK(line.clear() == clear);
  CHECK(line.clear().empty());
  CHECK(!line.update(start + 2150ms).empty());
}

TEST_CASE("the line is shorter than the terminal is wide", "[cli][progress]") {
  ProgressLine line(std::string(200, 'x'), start, {}, 40);
  CHECK(line.update(start + 2s).size() == 39 + std::string(clear).size());
}
