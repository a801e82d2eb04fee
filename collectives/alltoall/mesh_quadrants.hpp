// A node's blocks while a square mesh is divided: shared by bokhari-quadrant and sundar-cyclic.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

#include <string_view>

namespace wormcube {

/// The 4^d blocks of a node of a 2^d x 2^d mesh. Level k = d .. 1 divides squares of side 2^k into
/// four quadrants; a node's blocks then lie in four contiguous parts by the quadrant that they are
/// for, seen from the node's own: self, vertical, diagonal, horizontal. An exchange swaps parts
/// with the node at the same place of such a quadrant.
///
/// A block's place has one digit (a part) per level: where it is for, relative to the node, and
/// after the level where it is from, relative to the node: the partner's part has the same number.
/// The present level's digit is the first.
class MeshQuadrants {
 public:
  enum Part { self, vertical, diagonal, horizontal };

  /// Lays the blocks out for level d; not charged, as their first order is free.
  MeshQuadrants(Node& node, ConstBlocks out);

  Rank row() const { return row_; }
  Rank column() const { return column_; }
  /// Half the side of the squares of the present level, 2^(k-1); 0 if there is none (one node).
  Rank half() const { return half_; }

  /// One step: swaps parts first .. last (neighbours) with the same parts of the node that is
  /// half() away in the direction of part `towards`.
  void exchange(Part towards, Part first, Part last);
  /// Rearranges for the next level and returns true; false after the last.
  bool next_level();
  /// All blocks are here: writes them in the order of their sources.
  void deliver(Blocks in);

 private:
  Rank across(Part part, Rank half) const;
  Rank relative(Rank place) const;
  Span block(Span array, Rank place) const { return array.subspan(place * bytes_, bytes_); }

  Node& node_;
  Rank side_, row_, column_, half_;
  Bytes bytes_;
  Memory memory_, second_;
  Span now_, other_;  // the two memories, in turn
};

}  // namespace wormcube
