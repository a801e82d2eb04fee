// The checks of all-gathers, and a node's own block.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/own_block.hpp"

#include <fmt/core.h>

namespace wormcube {

void require_allgather(std::string_view algorithm, const Node& node, ConstBlocks mine, Blocks all) {
  const Rank p = node.size(), r = node.rank();
  if (mine.count() != 1 || all.count() != p) {
    throw UsageError(fmt::format("{}: {} nodes; {} blocks to give, must be 1; {} to end with",
                                 algorithm, p, mine.count(), all.count()));
  }
  if (mine[0].size() != all[r].size()) {
    throw UsageError(fmt::format("{}: a block of {} bytes to give but of {} to end with", algorithm,
                                 mine[0].size(), all[r].size()));
  }
}

void keep_own(Node& node, ConstBlocks mine, Blocks all) {
  node.local([&] { copy(mine[0], all[node.rank()]); });
}

}  // namespace wormcube
