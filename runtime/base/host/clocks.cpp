// Processor time, by the system's clocks of threads.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/clocks.hpp"

#include <ctime>

namespace wormcube {
namespace {

std::chrono::nanoseconds time_of(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

std::chrono::nanoseconds processor_time() noexcept { return time_of(CLOCK_THREAD_CPUTIME_ID); }

std::chrono::nanoseconds processor_time_of(pthread_t thread) noexcept {
  clockid_t clock{};
  if (pthread_getcpuclockid(thread, &clock) != 0) return {};
  return time_of(clock);
}

}  // namespace wormcube
