// A player's data for one algorithm: its messages with their paths, and the blocks that each node
// holds after each step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/draw/layout.hpp"
#include "wormcube/apps/draw/pack.hpp"
#include "wormcube/apps/draw/step.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <string>
#include <vector>

namespace wormcube::apps {

/// All messages, packed: for each step their number, then for each message the sender minus the
/// previous one, receiver - sender, and its entries in sizes and ways.
struct PlayMessages {
  std::size_t count = 0;
  std::vector<Bytes> sizes;
  std::vector<std::vector<int>> ways;  ///< distinct paths as slots: see Lane
  Packed packed;
};
PlayMessages pack_messages(const Schedule& schedule, const Routing& routing, const Layout& layout);

/// Traffic between groups of consecutive nodes, over all steps.
struct GroupTraffic {
  Rank per = 1;                                ///< nodes in a group; the last one may have fewer
  Rank groups = 0;                             ///< up to 64
  std::vector<std::uint64_t> bytes, messages;  ///< from each group to each group
};
GroupTraffic group_traffic(const Schedule& schedule);

/// The bytes that each node rearranges and combines before each step and after the last one, in
/// pairs. Empty if there are none, or more than most_works numbers.
inline constexpr std::size_t most_works = 4'000'000;
Packed pack_works(const Schedule& schedule);

/// With more nodes, they are drawn too small to show what they hold.
inline constexpr Rank most_holders = 256;

/// The blocks that messages carry.
struct PlayBlocks {
  /// "moves": the sender gives a block away. "copies": it keeps the block. "intervals": partial
  /// results of reductions. Empty: unknown, for the reason.
  std::string kind, reason;
  bool direct = false;  ///< each message carries the block from its sender to its receiver
  Rank parts = 1;       ///< in a block, each with its own number
  std::size_t units = 0;
  std::size_t moved = 0;           ///< blocks in all messages together
  std::vector<std::size_t> bases;  ///< each node's first block number; last, the number of blocks
  /// The destination of each block (not part); -1: it is empty. Omitted if block d of each node is
  /// for node d, and for copies if no block is empty.
  std::vector<Rank> destinations;
  Packed runs;
  /// On up to most_holders nodes, before each step and after the last one: the share of its result
  /// that each node has, 0 to 1; -1 if it has no result. Empty: unknown.
  std::vector<std::vector<double>> held;
};
/// Runs the call once more, on blocks that name themselves. For reductions it finds the ranks whose
/// operands a node's partial results cover.
PlayBlocks follow_blocks(const Collective& collective, const Schedule& schedule, std::uint64_t seed,
                         bool in_place);

}  // namespace wormcube::apps
