// Sleeping on a word until another thread has changed it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace wormcube {

/// Sleeps while `word` has this value (Linux futex); may return early. In place of
/// std::atomic::wait, which spins and yields first, for as long as it likes: who waits here has
/// done so already.
void sleep_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
/// The same until then at the longest; false: that has come.
[[nodiscard]] bool sleep_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t value,
                                     std::chrono::steady_clock::time_point until) noexcept;
/// Wakes those who sleep on `word`.
void wake_sleepers(std::atomic<std::uint32_t>& word) noexcept;
/// Tells the core that this is a waiting loop.
void pause() noexcept;

}  // namespace wormcube
