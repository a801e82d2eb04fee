// The checks of all scatter and gather programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/require.hpp"

#include <string_view>

#include <fmt/core.h>

namespace wormcube {

/// The root has a block for each node, its own as large as what it gives or gets. Throws UsageError.
/// \param all  the root's blocks; not looked at elsewhere
/// \param own  this node's block
inline void require_rooted(std::string_view algorithm, const Node& node, ConstBlocks all,
                           ConstSpan own, Rank root) {
  require_root(algorithm, node.size(), root);
  if (node.rank() != root) return;
  if (all.count() != node.size()) {
    throw UsageError(fmt::format("{}: the root has {} blocks for {} nodes; must be one for each",
                                 algorithm, all.count(), node.size()));
  }
  if (all[root].size() != own.size()) {
    throw UsageError(fmt::format("{}: the root's block {} has {} bytes, its own has {}", algorithm,
                                 root, all[root].size(), own.size()));
  }
}

/// The same where others forward blocks: of one size, or of sizes that all nodes know.
/// \param sizes  of all nodes' blocks; empty: all as `own`
inline void require_rooted(std::string_view algorithm, const Node& node, ConstBlocks all,
                           ConstSpan own, Rank root, std::span<const Bytes> sizes) {
  require_rooted(algorithm, node, all, own, root);
  if (sizes.empty()) {
    if (node.rank() == root && all.uneven()) {
      throw UsageError(fmt::format(
          "{}: blocks of different sizes; give the sizes of all on every node", algorithm));
    }
    return;
  }
  if (sizes.size() != static_cast<std::size_t>(node.size())) {
    throw UsageError(
        fmt::format("{}: {} sizes for {} nodes", algorithm, sizes.size(), node.size()));
  }
  if (sizes[static_cast<std::size_t>(node.rank())] != own.size()) {
    throw UsageError(fmt::format("{}: node {} has a block of {} bytes, the sizes say {}", algorithm,
                                 node.rank(), own.size(),
                                 sizes[static_cast<std::size_t>(node.rank())]));
  }
}

}  // namespace wormcube
