// The computer's clocks: a thread's processor time, and the longest wait that a clock can express.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include <pthread.h>

namespace wormcube {

/// The processor time that the calling thread, or another, has used.
std::chrono::nanoseconds processor_time() noexcept;
std::chrono::nanoseconds processor_time_of(pthread_t thread) noexcept;

/// A hundred years.
constexpr std::chrono::hours longest_wait{24 * 365 * 100};

/// The time, or a hundred years if it is longer. Clocks count nanoseconds in 64 bits, which hold
/// 292 years; a limit that is added to the current time must fit.
constexpr std::chrono::milliseconds waitable(std::chrono::milliseconds time) {
  return std::min<std::chrono::milliseconds>(time, longest_wait);
}

}  // namespace wormcube
