// The computer's clocks: a thread's processor time, and the longest wait that can be asked for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include <pthread.h>

namespace wormcube {

/// The processor time that the calling thread, or another, has had.
std::chrono::nanoseconds processor_time() noexcept;
std::chrono::nanoseconds processor_time_of(pthread_t thread) noexcept;

/// A hundred years.
constexpr std::chrono::hours longest_wait{24 * 365 * 100};

/// The time, or a hundred years if it is longer: clocks count nanoseconds, of which 292 years fit,
/// and a limit that is added to now or compared with what has passed must be one of theirs.
constexpr std::chrono::milliseconds waitable(std::chrono::milliseconds time) {
  return std::min<std::chrono::milliseconds>(time, longest_wait);
}

}  // namespace wormcube
