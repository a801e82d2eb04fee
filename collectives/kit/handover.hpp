// Reduce-scatters and all-gathers from one rule: when and where each partial result is handed on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/collectives/core/reduction.hpp"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace wormcube {

/// Another node: by a move, or, of no hops, by its rank and the network's own way.
struct Peer {
  Rank rank = 0;
  Move move = {};
};

/// One message that a node sends in a step, and the one of the same lane that it receives.
struct Lane {
  Peer to, from;
};

/// A reduce-scatter as its rule. Node r has a partial result for every block, and hands it on once,
/// in a step and lane that the rule names; what comes it adds to its own. So a rule is right if
/// whatever joins a partial result comes before that leaves, and every block ends at its node.
struct Handovers {
  struct Turn {
    int step, lane;
  };
  int steps = 0;
  int shares = 1;  ///< into which each block is cut: each has a turn of its own
  /// Of node r in a step, the same number on all nodes; lanes of one number belong together.
  std::function<std::vector<Lane>(Rank r, int step)> lanes = {};
  /// When node r hands on its share of the block of another node.
  std::function<Turn(Rank r, Rank block, int share)> turn = {};
};

/// The part of every block that one copy of an algorithm moves, cut between elements.
struct Portion {
  int part = 0, parts = 1;
  Bytes element_bytes = 1;
};

/// One node's messages of a reduce-scatter, and, backwards, of an all-gather.
class HandoverPlan {
 public:
  HandoverPlan(const Handovers& handovers, Rank nodes, Rank r);

  /// Blocks of whole elements, of any sizes. What comes from a lower rank is put on the left: of
  /// aligned intervals of ranks that grow the order is kept.
  /// \param out  may be this node's block of `in`
  void reduce_scatter(Node& node, const Reduction& reduction, ConstBlocks in, Span out,
                      const Portion& portion = {}) const;
  /// Every node's own block is in its place. The reduce-scatter backwards: a step sends what that
  /// received, and receives what it sent.
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
  template <class Block>
  Block cut(Block block, int share, const Portion& portion) const;

  Rank nodes_, r_;
  int shares_;
  std::vector<std::vector<Message>> steps_;
};

/// So many copies of a reduce-scatter side by side, copy j of part j of every block.
void reduce_scatter_copies(Node& node, std::span<const HandoverPlan> copies,
                           const Reduction& reduction, ConstBlocks in, Span out);
/// The same of an all-gather. \param element_bytes  what parts are multiples of
void allgather_copies(Node& node, std::span<const HandoverPlan> copies, Blocks all,
                      Bytes element_bytes = 1);
/// All-reduce: of each of p parts of the vector, which are as parts of it, reduce-scatter and
/// all-gather.
void allreduce_copies(Node& node, std::span<const HandoverPlan> copies, const Reduction& reduction,
                      ConstSpan mine, Span result);

}  // namespace wormcube
