// The statistics that every kind of node keeps of its own work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/node/arena.hpp"
#include "wormcube/runtime/machine/options.hpp"
#include "wormcube/runtime/machine/statistics.hpp"

#include <chrono>

namespace wormcube {

/// The sum that work of this kind adds to.
inline std::chrono::nanoseconds& time_of(NodeStatistics& statistics, Charge charge) {
  return charge == Charge::none        ? statistics.local
         : charge == Charge::rearrange ? statistics.rearranging
                                       : statistics.combining;
}

/// The statistics, with the peak memory of the node.
inline NodeStatistics with_peaks(NodeStatistics statistics, const Arena& arena) {
  statistics.peak_bytes = arena.peak_bytes();
  statistics.peak_block_bytes = arena.peak_block_bytes();
  return statistics;
}

}  // namespace wormcube
