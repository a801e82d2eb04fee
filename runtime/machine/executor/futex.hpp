// Sleeping on a word until another thread has changed it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace wormcube {

/// Sleeps while `word` has this value (Linux futex); may return early. It replaces
/// std::atomic::wait, which spins and yields first for an unspecified time: callers here have spun
/// already.
void sleep_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
/// The same with a deadline; false: the deadline has passed.
[[nodiscard]] bool sleep_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t value,
                                     std::chrono::steady_clock::time_point until) noexcept;
/// Wakes those who sleep on `word`.
void wake_sleepers(std::atomic<std::uint32_t>& word) noexcept;
/// Marks a spin loop for the core.
void pause() noexcept;

}  // namespace wormcube
