// Helpers that the benchmarks share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace wormcube {

/// One benchmark per registered algorithm x network x block size x executor.
void register_collective_benchmarks();

/// The time that two threads need to copy `blocks` blocks of `bytes` each with nothing else: the
/// limit of any exchange of that many blocks on this machine. Median of several.
std::chrono::nanoseconds copy_limit(std::size_t blocks, std::size_t bytes);

}  // namespace wormcube
