// Whether a schedule of whole messages takes a broadcast to every node.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/check.hpp"

#include <vector>

namespace wormcube {

std::optional<bool> broadcast_reaches_all(const Schedule& schedule, Rank root, Bytes block_bytes,
                                          bool& exactly_once) {
  std::vector<bool> has(schedule.ranks.size());
  has[root] = true;
  std::size_t reached = 1;
  exactly_once = true;
  std::vector<Rank> informed;
  for (std::size_t step = 0; step < schedule.steps(); ++step) {
    informed.clear();
    for (Rank rank = 0; rank < static_cast<Rank>(schedule.ranks.size()); ++rank) {
      for (const OpRecord& op : schedule.ops(rank, step)) {
        if (op.bytes != block_bytes) return std::nullopt;
        if (op.kind != Op::Kind::send) continue;
        if (!has[rank]) return false;
        informed.push_back(op.peer);
      }
    }
    for (const Rank rank : informed) {
      if (has[rank]) {
        exactly_once = false;
      } else {
        ++reached;
      }
      has[rank] = true;
    }
  }
  return reached == schedule.ranks.size();
}

}  // namespace wormcube
