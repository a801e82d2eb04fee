// The parallel loop of recording and checking: what it keeps to the calling thread, and what it hands on.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#ifndef WORMCUBE_TSAN  // under it the loop has threads of its own
#include <tbb/task.h>
#endif

using namespace wormcube;

namespace {

/// Goes on only when it is told to. Loops read it between bodies, on the calling thread.
struct ToldClock {
  using duration = std::chrono::microseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ToldClock>;
  static constexpr bool is_steady = true;
  static time_point now() { return time_point(passed); }
  static inline std::atomic<duration> passed{duration(0)};
};

#ifndef WORMCUBE_TSAN

/// Whether each body was a task of the library, whose threads it wakes: on whatever thread it then ran.
/// \param takes  what each body takes by the clock
std::vector<char> handed_on(std::size_t count, std::chrono::microseconds takes) {
  std::vector<char> handed(count, 2);
  const std::thread::id caller = std::this_thread::get_id();
  parallel_for_each_index<ToldClock>(count, [&](std::size_t index) {
    const bool is_task = tbb::task::current_context() != nullptr;
    handed[index] = is_task || std::this_thread::get_id() != caller ? 1 : 0;
    if (!is_task) ToldClock::passed = ToldClock::passed.load() + takes;
  });
  return handed;
}

#endif

}  // namespace

#ifndef WORMCUBE_TSAN

TEST_CASE("a loop of less than 0.1 ms wakes no other thread, of however many bodies",
          "[schedule]") {
  using std::chrono::microseconds;
  CHECK(handed_on(100'000, microseconds(0)) == std::vector<char>(100'000, 0));
  CHECK(handed_on(10, microseconds(10)) == std::vector<char>(10, 0));
  CHECK(handed_on(1, microseconds(1'000'000)) == std::vector<char>(1, 0));
  CHECK(handed_on(0, microseconds(1)).empty());
}

TEST_CASE("what is left of a loop after 0.1 ms is handed on", "[schedule]") {
  using std::chrono::microseconds;
  // Ten bodies of 10 us, four of 33 us, one of 100 us: what has begun before is not.
  for (const auto& [takes, kept] :
       {std::pair(10, 10), std::pair(33, 4), std::pair(100, 1), std::pair(5000, 1)}) {
    CAPTURE(takes, kept);
    std::vector<char> wanted(1000, 1);
    std::fill_n(wanted.begin(), kept, char{0});
    CHECK(handed_on(1000, microseconds(takes)) == wanted);
  }
}

#endif

TEST_CASE("every body of a loop runs once, and the lowest index' exception is told", "[schedule]") {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5000}}) {
    std::vector<std::atomic<int>> ran(count);
    parallel_for_each_index(count, [&](std::size_t index) { ++ran[index]; });
    CHECK(std::ranges::all_of(ran, [](const std::atomic<int>& times) { return times == 1; }));
  }
  for (const std::size_t lowest : {std::size_t{0}, std::size_t{7}, std::size_t{4999}}) {
    CHECK_THROWS_WITH(parallel_for_each_index(5000,
                                              [&](std::size_t index) {
                                                if (index >= lowest)
                                                  throw std::runtime_error(std::to_string(index));
                                              }),
                      std::to_string(lowest));
  }
}
