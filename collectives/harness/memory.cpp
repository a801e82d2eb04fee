// What a program will take, from dry runs of a few ranks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/memory.hpp"

#include <algorithm>

namespace wormcube {

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
    need.plans += static_cast<double>(log.ops.size() * sizeof(Rank));
    need.schedule += static_cast<double>(
        log.ops.size() * sizeof(OpRecord) + log.moves.size() * sizeof(Move) +
        log.step_ends.size() * sizeof(std::uint32_t) +
        (log.rearranged.size() + log.combined.size()) * sizeof(Bytes) + sizeof(RankLog));
  }
  const double scale = topology.nodes() / tried;
  return {need.nodes * scale, need.schedule * scale, need.plans * scale};
}

}  // namespace wormcube
