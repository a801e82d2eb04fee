// The parallel loop of recording and checking: what stays on the calling thread.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#ifndef WORMCUBE_TSAN  // under it the loop has threads of its own
#include <tbb/task.h>
#endif

using namespace wormcube;

namespace {

/// Continues only when it is allowed to. Loops read it between bodies, on the calling thread.
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

/// How many bodies the caller keeps to itself; these are the first. Others are tasks of the library, whose
/// threads it wakes, on whatever thread they then run.
/// \param takes  what each body takes by the clock
std::size_t kept(std::size_t count, std::chrono::microseconds takes) {
  std::vector<char> is_kept(count, 2);
  const std::thread::id caller = std::this_thread::get_id();
  parallel_for_each_index<ToldClock>(count, [&](std::size_t index) {
    const bool is_task = tbb::task::current_context() != nullptr;
    is_kept[index] = !is_task && std::this_thread::get_id() == caller ? 1 : 0;
    if (!is_task) ToldClock::passed = ToldClock::passed.load() + takes;
  });
  REQUIRE(std::ranges::is_sorted(is_kept, std::greater()));
  REQUIRE(std::ranges::count(is_kept, 2) == 0);
  return static_cast<std::size_t>(std::ranges::count(is_kept, 1));
}

#endif

}  // namespace

#ifndef WORMCUBE_TSAN

TEST_CASE("a loop of less than 0.1 ms wakes no other thread, of however many bodies",
          "[schedule]") {
  using std::chrono::microseconds;
  CHECK(kept(100'000, microseconds(0)) == 100'000);
  CHECK(kept(10, microseconds(10)) == 10);
  CHECK(kept(1, microseconds(1'000'000)) == 1);
  CHECK(kept(0, microseconds(1)) == 0);
}

TEST_CASE("the rest of a loop after 0.1 ms is handed to other threads", "[schedule]") {
  using std::chrono::microseconds;
  // What has begun before is kept.
  CHECK(kept(1000, microseconds(10)) == 10);
  CHECK(kept(1000, microseconds(33)) == 4);
  CHECK(kept(1000, microseconds(100)) == 1);
  CHECK(kept(1000, microseconds(5000)) == 1);
}

#endif

TEST_CASE("every body of a loop runs once, and the exception with the lowest index is thrown",
          "[schedule]") {
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
