// The route of one block through an algorithm's messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube::cli {

/// A message that carries the block, or a part of it.
struct BlockHop {
  std::size_t step;
  Rank from, to;
  std::size_t words;      // of the block, which is cut into as many as travel separately
  std::size_t all_words;  // of the message
};

struct BlockWay {
  std::size_t words = 0;  // of the whole block
  std::vector<BlockHop> hops;
};

/// "0,10": from node, to node. Throws UsageError.
std::pair<Rank, Rank> parse_block(std::string_view text, const Topology& topology);

/// Runs the algorithm on blocks that name themselves, and looks for one in every message. Throws
/// UsageError for reductions, which combine blocks, and if no block goes from the first node to the
/// second.
BlockWay follow_block(const Collective& collective, const Schedule& schedule, Rank from, Rank to,
                      bool in_place);

/// Prints the hops as a table, and returns them as JSON.
Json print_way(const OutputOptions& output, const BlockWay& way, Rank from, Rank to);

}  // namespace wormcube::cli
