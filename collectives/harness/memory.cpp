// Memory: what there is, and what a program will take.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/memory.hpp"

#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <fmt/core.h>
#include <unistd.h>

namespace wormcube {

double available_memory_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  for (double kibibytes = 0; meminfo >> key >> kibibytes;) {
    if (key == "MemAvailable:") return kibibytes * 1024;
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::string gibibytes_text(double bytes) {
  return fmt::format("{:.3g} GiB", bytes / (1024.0 * 1024 * 1024));
}

void require_available_memory(std::string_view what, double bytes) {
  const double available = available_memory_bytes();
  if (bytes > available) {
    throw UsageError(
        fmt::format("{} needs {} of memory, {} are available; use fewer nodes or smaller blocks",
                    what, gibibytes_text(bytes), gibibytes_text(available)));
  }
}

MemoryNeed memory_need(const Topology& topology, const Program& program, Rank root) {
  // Collectives are oblivious and their ranks alike: of a large machine some stand for all.
  constexpr Rank tried_ranks = 64;
  const Rank stride = std::max(1, topology.nodes() / tried_ranks);
  double tried = 0;
  const auto is_tried = [&](Rank rank) { return rank % stride == 0 || rank == root; };
  const Schedule sample = record(topology, [&](Node& node) {
    if (is_tried(node.rank())) program(node);
  });
  MemoryNeed need;
  for (Rank rank = 0; rank < topology.nodes(); ++rank) {
    if (!is_tried(rank)) continue;
    const RankLog& log = sample.ranks[rank];
    ++tried;
    need.nodes += static_cast<double>(log.peak_bytes);
    need.schedule += static_cast<double>(
        log.ops.size() * sizeof(OpRecord) + log.moves.size() * sizeof(Move) +
        log.step_ends.size() * sizeof(std::uint32_t) +
        (log.rearranged.size() + log.combined.size()) * sizeof(Bytes) + sizeof(RankLog));
  }
  const double scale = topology.nodes() / tried;
  return {need.nodes * scale, need.schedule * scale};
}

}  // namespace wormcube
