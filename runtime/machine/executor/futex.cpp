// Sleeping on a word, with the system's own primitive.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/executor/futex.hpp"

#include <cerrno>
#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace wormcube {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t),
              "a futex is a plain 32-bit word");

void sleep_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

bool sleep_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t value,
                       std::chrono::steady_clock::time_point until) noexcept {
  constexpr std::int64_t per_second = 1'000'000'000;
  const std::int64_t time = std::chrono::nanoseconds(until.time_since_epoch()).count();
  if (time <= 0) return false;
  const timespec limit{time / per_second, time % per_second};
  // An absolute time of CLOCK_MONOTONIC, which is steady_clock's.
  const long slept = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, value, &limit, nullptr,
                             FUTEX_BITSET_MATCH_ANY);
  return slept == 0 || errno != ETIMEDOUT;
}

void wake_sleepers(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace wormcube
