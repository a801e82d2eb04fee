// The way of one block through an algorithm's messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube::cli {

/// A message that has the block, or a part of it.
struct BlockHop {
  std::size_t step;
  Rank from, to;
  std::size_t words;  // of the block; it is cut into as many as the algorithm may send apart
  Bytes block_bytes;  // of these
  Bytes bytes;        // of the whole message, in the same unit
};

struct BlockWay {
  std::size_t words = 0;  // of the whole block
  std::vector<BlockHop> hops;
};

/// "0,10": from node, to node. Throws UsageError.
std::pair<Rank, Rank> parse_block(std::string_view text, const Topology& topology);

/// Proves the algorithm with blocks that can be told apart, and looks for one in every message.
/// Throws UsageError for reductions, which combine blocks, and where no block goes from the one
/// node to the other.
BlockWay follow_block(const Collective& collective, const Topology& topology, Rank from, Rank to,
                      bool in_place);

}  // namespace wormcube::cli
