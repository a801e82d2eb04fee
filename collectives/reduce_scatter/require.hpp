// The checks of all reduce_scatter programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/require.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

namespace wormcube {

/// A block of whole elements for each node, and room for this node's. Throws UsageError with both
/// numbers.
inline void require_reduce_scatter(std::string_view algorithm, const Node& node,
                                   const Reduction& reduction, ConstBlocks in, ConstSpan out) {
  if (in.count() != node.size()) {
    throw UsageError(fmt::format("{}: {} blocks for {} nodes; give one for each", algorithm,
                                 in.count(), node.size()));
  }
  if (in[node.rank()].size() != out.size()) {
    throw UsageError(fmt::format("{}: room for {} bytes at node {}, whose block has {}", algorithm,
                                 out.size(), node.rank(), in[node.rank()].size()));
  }
  require_blocks_of_elements(algorithm, reduction, in);
}

/// The largest block's size.
inline Bytes largest(ConstBlocks blocks) {
  Bytes most = 0;
  for (Rank b = 0; b < blocks.count(); ++b) most = std::max(most, blocks[b].size());
  return most;
}

}  // namespace wormcube
