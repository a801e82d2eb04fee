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

/// The bytes received by all nodes of a call from which such stores pay on this computer, measured
/// at the first use (some 20 ms): a call that reads and writes so much finds nothing of it in the
/// caches the next time.
///
/// Threads  any.
std::size_t least_unread_bytes();

}  // namespace wormcube
