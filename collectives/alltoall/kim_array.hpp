// A node's blocks during kim-a1 and kim-recursive: where each lies, and what a message takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/runtime/node.hpp"

#include <functional>
#include <vector>

namespace wormcube {

/// The array of one node of a torus that is divided k times (see alltoall_kim_recursive). Level i
/// cells have 2^i nodes a side.
///
/// In the split stage a node of level i holds the blocks of all sources in its level i cell for its
/// delegators, the destinations that agree with it modulo 2^i in all coordinates but the last. In
/// the merge stage it holds those of all sources for the nodes of its level i cell that agree with
/// it in all coordinates but the last. So a block's place is a sum of two: its source's and its
/// destination's.
///
/// Layout. What a message takes is one slice (split, n >= 4 dimensions: up to 2^(n-3)). In a split
/// phase blocks are in the order of the moves that they make in it, a Gray code; what is received
/// goes to the same slice of a second array and from there to where the sent blocks were. In a
/// merge phase the half that goes comes last.
///
/// All is arithmetic on coordinates, and of a dry run only sizes.
class KimArray {
 public:
  /// Takes memory for the most blocks that this node ever holds, and the second array.
  KimArray(Node& node, Bytes block_bytes, int divisions);

  int dimensions() const { return node_.topology().dimensions(); }
  /// The levels of which this node is a master: 1, .., level(). Level 0 is every node.
  int level() const { return level_; }
  /// The move to the partner of split or merge phase i: 2^(i-1) hops.
  Move towards_partner(int i, int dimension) const;
  Rank partner(int i, int dimension) const;

  /// Before the first split phase.
  void lay_out(ConstBlocks out);
  /// What belongs on the other side of dimension d >= 1 in split phase i.
  std::vector<Span> leaving(int i, int d) const;
  /// The same places in the second array.
  std::vector<Span> opposite(std::vector<Span> pieces) const;
  /// After split phase i: for phase i+1, or for the exchange after the last one.
  void rearrange_after_split(int i);

  /// Of TorusCore::exchange; both arrays are equally large.
  Span& held() { return held_; }
  Span& spare() { return spare_; }

  /// Before merge phase i.
  void rearrange_for_merge(int i);
  /// All that a node of level i holds, and its halves.
  Span all(int i) const { return held_.first(blocks(i) * block_bytes_); }
  Span second_half(int i) const { return all(i).subspan(blocks(i - 1) * block_bytes_); }
  /// After the last merge phase: writes all blocks in the order of their sources.
  void deliver(Blocks in);

 private:
  using Ranks = std::vector<Rank>;
  /// The place of a source's blocks, and of a destination's among them.
  struct Layout {
    std::function<Rank(Rank)> source, destination;
  };
  Layout before_split(int i) const;
  Layout after_split(int i) const;
  Layout before_exchange() const;
  Layout after_exchange() const;
  Layout before_merge(int i) const;
  Layout after_merge(int i) const;

  std::size_t blocks(int level) const;
  Rank coordinate(Rank rank, int d) const { return node_.topology().coordinate(rank, d); }
  Ranks cell(int level) const;
  Ranks delegators(int level) const;
  Ranks row(int level) const;
  Ranks everyone() const;
  Rank in_cell(int level, Rank rank) const;
  Rank cell_number(int level, Rank rank) const;
  Rank delegator_number(int level, Rank rank) const;
  Rank group_place(int i, unsigned differing) const;
  Span block(Span array, Rank place) const {
    return array.subspan(place * block_bytes_, block_bytes_);
  }
  void permute(const Ranks& sources, const Ranks& destinations, const Layout& from,
               const Layout& to);

  Node& node_;
  Bytes block_bytes_;
  int divisions_, level_;
  Memory memory_, second_;
  Span held_, spare_;  // the two memories, in turn
};

}  // namespace wormcube
