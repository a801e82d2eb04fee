// Helpers that the benchmarks share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace wormcube {

/// One benchmark per registered algorithm x network x block size x executor.
void register_collective_benchmarks();

/// Who copies a block in each round: the same core, or for half of the blocks the two cores by
/// turns, as in an exchange, where the node that comes last copies.
enum class Copiers : std::uint8_t { same, half_change };

/// The time that two threads need to copy `blocks` blocks of `bytes` each with nothing else: the
/// limit of any exchange of that many blocks on this machine. Median of several.
std::chrono::nanoseconds copy_limit(std::size_t blocks, std::size_t bytes, Copiers copiers);

}  // namespace wormcube
