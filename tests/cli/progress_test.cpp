// The progress line, with a clock that the test sets.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/progress.hpp"

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

TEST_CASE("however often progress is reported, the line changes five times a second",
          "[cli][progress]") {
  ProgressLine line("run", start, {}, 80);
  int texts = 0;
  for (auto now = 0ms; now < 11s; now += 1ms) {
    line.count(now.count(), 11000);
    texts += line.update(start + now).empty() ? 0 : 1;
  }
  CHECK(texts == 50);
}

TEST_CASE("the line shows the task, its progress, and the time so far", "[cli][progress]") {
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

TEST_CASE("in a file the first line comes after ten seconds, then one every ten seconds",
          "[cli][progress]") {
  ProgressLine line("check", start, ProgressLine::in_a_file(), 0);
  line.doing("shift on ring:4");
  std::string all;
  for (auto now = 0ms; now < 35s; now += 100ms) all += line.update(start + now);
  CHECK(all ==
        "wormcube: check: shift on ring:4, 10 s\n"
        "wormcube: check: shift on ring:4, 20 s\n"
        "wormcube: check: shift on ring:4, 30 s\n");
  CHECK(line.clear().empty());
}

TEST_CASE("the line says how far a long loop is, and what time is left", "[cli][progress]") {
  ProgressLine line("reproduce kim", start, {}, 80);
  line.count(1, 4);
  line.part(0.25);
  line.loop(wormcube::LongLoop::State{"dry run", 37, 100});
  CHECK(line.update(start + 10s) ==
        std::string(clear) + "reproduce kim, 1 of 4, dry run 37 %, 10 s, about 30 s left");
  line.loop(wormcube::LongLoop::State{"proof", 5, 0});
  line.part(0);
  CHECK(line.update(start + 20s) ==
        std::string(clear) + "reproduce kim, 1 of 4, proof, step 5, 20 s");
  line.loop({});
  CHECK(line.update(start + 30s) == std::string(clear) + "reproduce kim, 1 of 4, 30 s");
}

TEST_CASE("the line is shorter than the terminal is wide", "[cli][progress]") {
  ProgressLine line(std::string(200, 'x'), start, {}, 40);
  CHECK(line.update(start + 2s).size() == 39 + std::string(clear).size());
}
