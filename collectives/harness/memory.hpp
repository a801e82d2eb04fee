// How much memory a collective needs and this computer has.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <string_view>

namespace wormcube {

/// Memory that programs can still get without swapping: MemAvailable of /proc/meminfo.
double available_memory_bytes();

/// Throws UsageError, `what` in front, with both figures if `bytes` are more than is available.
void require_available_memory(std::string_view what, double bytes);

/// What a program needs, estimated from dry runs of a few ranks.
struct MemoryNeed {
  double nodes = 0;     // bytes that the nodes' programs hold at once, all nodes together
  double schedule = 0;  // bytes of the recorded schedule
};
/// \param root  a rank that is surely among those tried
MemoryNeed memory_need(const Topology& topology, const Program& program, Rank root = 0);

/// "12.3 GiB"
std::string gibibytes_text(double bytes);

}  // namespace wormcube
