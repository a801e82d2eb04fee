// Reduce-scatters and all-gathers from one rule: when and where each partial result is passed on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/collectives/core/reduction.hpp"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace wormcube {

/// Another node: by a move, or, if that has no hops, by its rank and the network's own route. Rank
/// -1: none.
struct Peer {
  Rank rank = 0;
  Move move = {};
};

/// One message that a node sends in a step, and one that it receives.
struct Lane {
  Peer to, from;
  int from_lane = -1;  ///< the lane of the latter at its sender; -1: the same
};

/// A reduce-scatter as its rule. Node r has a partial result for every block, and passes it on
/// once, in a step and lane that the rule names; it adds arrivals to its own. So a rule is right if
/// everything that joins a partial result arrives before that leaves, and every block ends at its
/// node.
struct Handovers {
  struct Turn {
    int step = 0, lane = 0;
  };
  int steps = 0;
  int shares = 1;  ///< the number of parts of each block: each has a turn of its own
  /// For node r in a step, the same number on all nodes; lanes of one number belong together.
  std::function<std::vector<Lane>(Rank r, int step)> lanes = {};
  /// When node r passes on each share of the block of each other node, share by share, block by
  /// block. Those of its own block mean nothing.
  std::function<void(Rank r, std::span<Turn> turns)> turns = {};
  int most_lanes = 2;
};

/// Handovers::turns by a rule for one share. \param turn  turn(r, block, share)
template <class Rule>
auto turns_by(Rank nodes, int shares, Rule turn) {
  return [=](Rank r, std::span<Handovers::Turn> turns) {
    auto at = turns.begin();
    for (Rank block = 0; block < nodes; ++block) {
      for (int share = 0; share < shares; ++share, ++at) {
        if (block != r) *at = turn(r, block, share);
      }
    }
  };
}

/// Handovers::turns of a node of a product: a share leaves at the earliest of the turns that the
/// block's coordinates ask for.
/// \param of_coordinates  by dimension, coordinate and share; step -1 for the node's own coordinate
void earliest_turns(std::span<const std::vector<Handovers::Turn>> of_coordinates, int shares,
                    std::span<Handovers::Turn> turns);

/// The part of every block that one copy of an algorithm moves, cut between elements.
struct Portion {
  int part = 0, parts = 1;
  Bytes element_bytes = 1;
};

/// Where that part of a block of `size` bytes begins, and its bytes.
struct PartBounds {
  Bytes first, bytes;
};
inline PartBounds part_of(Bytes size, const Portion& portion) {
  if (portion.parts == 1) return {0, size};
  const Bytes elements = size / portion.element_bytes;
  const auto part = static_cast<Bytes>(portion.part), parts = static_cast<Bytes>(portion.parts);
  const Bytes first = elements * part / parts, last = elements * (part + 1) / parts;
  return {first * portion.element_bytes, (last - first) * portion.element_bytes};
}

/// That part of a block.
template <class Block>
Block cut(Block block, const Portion& portion) {
  const auto [first, bytes] = part_of(block.size(), portion);
  return block.subspan(first, bytes);
}

/// One node's messages of a reduce-scatter, and, backwards, of an all-gather.
class HandoverPlan {
 public:
  HandoverPlan(const Handovers& handovers, Rank nodes, Rank r);

  /// Blocks of whole elements, of any sizes. Arrivals from a lower rank are put on the left: for
  /// growing aligned intervals of ranks this keeps the order.
  /// \param out  may be this node's block of `in`
  void reduce_scatter(Node& node, const Reduction& reduction, ConstBlocks in, Span out,
                      const Portion& portion = {}) const;
  /// Every node's own block is in its place. The reduce-scatter in reverse: a step sends what it
  /// received there, and receives what it sent.
  void allgather(Node& node, Blocks all, const Portion& portion = {}) const;

 private:
  struct Share {
    Rank block;
    int share;
  };
  struct Message {
    Lane lane;
    std::vector<Share> given, taken;
  };
  Rank nodes_, r_;
  int shares_;
  std::vector<std::vector<Message>> steps_;
  std::size_t most_shares_ = 0;  // of all messages of a step
};

/// Several copies of a reduce-scatter side by side, copy j for part j of every block.
void reduce_scatter_copies(Node& node, std::span<const HandoverPlan> copies,
                           const Reduction& reduction, ConstBlocks in, Span out);
/// The same for an all-gather. \param element_bytes  parts are multiples of it
void allgather_copies(Node& node, std::span<const HandoverPlan> copies, Blocks all,
                      Bytes element_bytes = 1);
/// All-reduce: reduce-scatter and all-gather for each of p parts of the vector, cut in the same
/// way.
void allreduce_copies(Node& node, std::span<const HandoverPlan> copies, const Reduction& reduction,
                      ConstSpan mine, Span result);

}  // namespace wormcube
