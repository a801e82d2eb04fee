// Where blocks lie during kim-a1 and kim-recursive.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/torus_exchange.hpp"
#include "wormcube/collectives/kit/block_array.hpp"

namespace wormcube {

/// The layouts of one node of a torus that is divided k times (see alltoall_kim). Level i
/// cells have 2^i nodes a side.
///
/// In the split stage a node of level i holds the blocks of all sources in its level i cell for its
/// delegators, the destinations that agree with it modulo 2^i in all coordinates but the last. In
/// the merge stage it holds those of all sources for the nodes of its level i cell that agree with
/// it in all coordinates but the last.
///
/// A message is one slice (split, n >= 4 dimensions: up to 2^(n-3)). In a split phase the first
/// digits are the moves that blocks make in it, in Gray order; in a merge phase the half that is
/// sent comes last.
///
/// Example, 4x4, k = 1: the block (2,1)->(3,3). Node (2,1) is a slave, as 2 and 1 differ modulo 2;
/// (3,3) is its own delegate, a master. In split 1 the block does not move along dimension 1 and is
/// for delegator (floor(3/2), 3), number 7 of 8: place 0*8 + 7 = 7. The slave sends all its blocks
/// to master (3,1), where they come second: place 16 + 7 = 23. For the exchange it is in the bundle
/// for cell (1,1), the last in Gray order as it moves along dimension 1 alone; in it the block of
/// the second source of the cell for an odd column: place 3*8 + 1*2 + 1 = 27. So it arrives at
/// master (3,3). In merge 1 it stays, in the half that comes first, and source (2,1) is number 9:
/// place 0*16 + 9 = 9, from which it is delivered.
class KimPlaces {
 public:
  KimPlaces(const Topology& topology, Rank rank, int divisions);

  int dimensions() const { return topology_.dimensions(); }
  /// The levels of which this node is a master: 1, .., level(). Level 0 is every node.
  int level() const { return level_; }
  /// Blocks that a node of this level holds.
  Rank blocks(int level) const { return topology_.nodes() << level; }
  /// The move to the partner of split or merge phase i: 2^(i-1) hops.
  Move towards_partner(int i, int dimension) const;

  // The layouts of split phase i, of a bundle of the exchange (see TorusExchange), of merge phase
  // i.

  Layout before_split(int i) const;
  Layout after_split(int i) const;
  Places bundle() const;
  Layout before_merge(int i) const;
  Layout after_merge(int i) const;

  /// What belongs to the other side of dimension d >= 1 in split phase i.
  Slices leaving(int i, int d) const;
  /// All that a node of level i holds, and its second half.
  Slices all(int i) const { return {{0, blocks(i)}}; }
  Slices second_half(int i) const { return {{blocks(i - 1), blocks(i - 1)}}; }

 private:
  /// This node's coordinate, weighted as in a rank; cut to bits from .. to - 1.
  Rank own(int d, int from, int to = 30) const;
  /// The same with bit i - 1 alone, or the other value of that bit.
  Rank own_bit(int i, int d, bool other) const;
  Rank stride(int d) const { return topology_.stride(d); }

  Digit delegates_by_moves(int i) const;
  void add_sources_of_cell(int level, Places& places) const;
  void add_delegators(int level, Places& places) const;
  void add_all_sources(Places& places) const;

  const Topology& topology_;
  Rank rank_;
  int divisions_, level_, last_;  // the last dimension
};

}  // namespace wormcube
