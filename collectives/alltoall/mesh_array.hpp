// A node's blocks during suh-mesh: two arrays of slots, and which part of them a message takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/mesh_order.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace wormcube {

/// One dimension of the mesh, as this node sees it.
struct MeshSide {
  int dimension;  // the topology's
  MeshLine line;
  Rank x;  // this node's coordinate
};

/// The linear array of a node, section 3.3 of the paper, for any sizes: one block for each
/// combination of slots (see MeshLine), one slot per dimension.
///
/// While a ring is active its slots are the slowest index, so that each of its steps sends the end
/// of the array. In the last phase the array falls into segments by halves: bit d of a segment's
/// mask is the half in dimension d. They lie in Gray order (two dimensions: self, vertical,
/// diagonal, horizontal), so that both messages of two dimensions are contiguous; the k-th from
/// last dimension needs max(1, 2^(k-2)) pieces if sizes are even. Where halves differ in size (odd
/// sizes) segments end in gaps.
///
/// What is received goes to the same place in a second array and is moved from there. Which block
/// lies where is arithmetic on coordinates only.
class MeshArray {
 public:
  MeshArray(Node& node, ConstBlocks out, Blocks in, MeshRing ring);

  int dimensions() const { return static_cast<int>(sides_.size()); }
  const MeshSide& side(int d) const { return sides_[d]; }
  /// The node with another coordinate on a side.
  Rank with(int d, Rank x) const;

  // Before the first ring. Dimensions are taken in ascending order.

  /// The blocks of an odd node for the lonely last coordinate of dimension d: its own, and guests
  /// of lower dimensions.
  std::vector<Span> leaving(int d) const;
  /// Room for what the partner in dimension d hands over.
  Span guests(int d) const;
  /// Lays out all blocks and guests for the ring of dimension d.
  void lay_out(int d);

  // Between and during rings.

  void rearrange(int d);
  /// The last `pairs` pairs of slots of dimension d, the present ring.
  Span last_pairs(int d, Rank pairs) const;
  /// The same place in the second array.
  Span opposite(Span place) const;

  // The last phase.

  void rearrange_by_halves();
  /// The blocks for the partner in dimension d, or those from it: the segments of half 1, as
  /// contiguous runs.
  std::vector<Span> second_half(int d, bool exchanged) const;
  /// All blocks are here: writes them in the order of their sources.
  void deliver();

 private:
  Bytes bytes() const { return out_.bytes(); }
  std::vector<Rank> extents_of_ring() const;
  std::vector<Rank> segments(int first_exchanged) const;
  std::vector<Rank> strides_for(int d) const;
  Rank ends_on(int e, int d) const;
  template <class F>
  void for_each_in_segments(bool exchanged, F&& f) const;
  ConstSpan home(std::span<const MeshLine::Ends> ends) const;
  Span block(Span array, Rank position) const;

  Node& node_;
  ConstBlocks out_;
  Blocks in_;
  std::vector<MeshSide> sides_;
  Rank capacity_;  // blocks of an array: all sides rounded up to even
  Memory memory_, second_;
  Span now_, other_;           // the two memories, in turn
  std::vector<Rank> strides_;  // of slots, in the present ring layout
};

}  // namespace wormcube
