// A node's blocks while a square mesh is divided: shared by bokhari-quadrant and sundar-cyclic.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/kit/block_array.hpp"

namespace wormcube {

/// The plan for the 4^d blocks of a node of a 2^d x 2^d mesh. Level k = d .. 1 divides squares of
/// side 2^k into four quadrants; a node's blocks then lie in four contiguous parts by the quadrant
/// that they are for, seen from the node's own: self, vertical, diagonal, horizontal. An exchange
/// swaps parts with the node at the same place of such a quadrant.
///
/// A block's place has one digit (a part) per level: its destination relative to the node before
/// the level, and its source relative to the node after it. The partner's part has the same number.
/// The present level's digit is the first, those of the levels done are the last.
///
/// Example, 4x4, node (2,1), its block for (3,3): at level 2 that is in the horizontal quadrant
/// (3), as the columns differ in bit 1, at level 1 in the vertical one (1), as the rows differ in
/// bit 0: place 3*4 + 1 = 13. It goes to (2,3), which turns the digits for level 1: place 1*4 + 3 =
/// 7. It goes to (3,3), where 7 says that it came from the vertical quadrant at level 1 and the
/// horizontal one at level 2: from (2,1).
class MeshQuadrants {
 public:
  enum Part { self, vertical, diagonal, horizontal };

  /// Lays the blocks out for level d; not charged, as their first order is free.
  MeshQuadrants(const Topology& topology, Rank rank);

  Rank row() const { return rank_ / side_; }
  Rank column() const { return rank_ % side_; }
  /// Half the side of the squares of the present level, 2^(k-1); 0 for a single node.
  Rank half() const { return half_; }

  /// One step: swaps parts first .. last (neighbours) with the same parts of the node that is
  /// half() away in the direction of part `towards`.
  void exchange(Part towards, Part first, Part last);
  void idle(Rank steps = 1) { array_.idle(steps); }
  void phase(std::string_view name) { array_.phase(name); }
  /// Rearranges for the next level and returns true; false after the last.
  bool next_level();
  /// All blocks are here: delivers them.
  BlockArray done();

 private:
  Rank across(Part part, Rank half) const;
  Layout layout(Rank first, Rank done) const;

  Rank rank_, side_, half_;
  BlockArray array_;
};

}  // namespace wormcube
