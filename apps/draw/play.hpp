// What a player shows of one algorithm: its messages with their ways, and the blocks that each node
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

/// All messages, packed: per step their number, then for each the sender minus the one before,
/// receiver - sender, and its entries in sizes and ways.
struct PlayMessages {
  std::size_t count = 0;
  std::vector<Bytes> sizes;
  std::vector<std::vector<int>> ways;  ///< slots: see Lane
  Packed packed;
};
PlayMessages pack_messages(const Schedule& schedule, const Routing& routing, const Layout& layout);

/// What groups of consecutive nodes send each other, over all steps.
struct GroupTraffic {
  Rank per = 1;                                ///< nodes of a group; the last one may have fewer
  Rank groups = 0;                             ///< up to 64
  std::vector<std::uint64_t> bytes, messages;  ///< of each sender's group, to each receiver's
};
GroupTraffic group_traffic(const Schedule& schedule);

/// The bytes that each node rearranges and combines before each step and after the last one, in
/// pairs. Empty if there are none, or more than most_works numbers.
inline constexpr std::size_t most_works = 4'000'000;
Packed pack_works(const Schedule& schedule);

/// More nodes are drawn too small for what they hold.
inline constexpr Rank most_holders = 256;

/// Which blocks move.
struct PlayBlocks {
  /// "moves": the sender gives a block away. "copies": it keeps it. "intervals": partial results,
  /// of reductions. Empty: unknown, for the reason.
  std::string kind, reason;
  bool direct = false;  ///< each message carries the block from its sender to its receiver
  Rank parts = 1;       ///< of a block, each with a number of its own
  std::size_t units = 0;
  std::size_t moved = 0;           ///< blocks in all messages together
  std::vector<std::size_t> bases;  ///< of each node: its first block's number; and their number
  /// Where each block (not part) belongs, -1: it is empty. Left out if block d of each node is for
  /// node d, and of copies if none is empty.
  std::vector<Rank> destinations;
  Packed runs;
  /// On up to most_holders nodes, before each step and after the last one: the share of its result
  /// that each node has, 0 to 1; -1 where nothing is for it. Empty: unknown.
  std::vector<std::vector<double>> held;
};
/// Runs the proof once more and reads which blocks its payloads carry. For reductions it finds the
/// ranks whose operands a node's partial results cover.
PlayBlocks follow_blocks(const Collective& collective, const Schedule& schedule, std::uint64_t seed,
                         bool in_place);

}  // namespace wormcube::apps
