// Stores past the caches, for data that nobody reads soon.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace wormcube {

/// Copies as many bytes as each has. Whole cache lines of a long one go into memory past the
/// caches: no line is fetched to be overwritten, and none is evicted. Nothing orders such stores
/// until settle_unread().
void copy_unread(std::span<std::byte> to, std::span<const std::byte> from) noexcept;
/// Call it before the copies are published: orders them before every later store of this thread.
void settle_unread() noexcept;

/// Fewer bytes are in some cache the next time.
inline constexpr std::size_t least_exceeding = std::size_t{8} << 20;

/// Whether data of this size, at least least_exceeding, is in no cache of this computer the next
/// time, so that such stores pay. Below 64 MiB it is measured, once (some 20 ms).
///
/// Threads  any.
bool found_to_exceed_caches(std::size_t bytes);

inline bool exceeds_caches(std::size_t bytes) {
  return bytes >= least_exceeding && found_to_exceed_caches(bytes);
}

}  // namespace wormcube
