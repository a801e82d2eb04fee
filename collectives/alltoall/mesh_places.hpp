// Where blocks lie during suh-mesh.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/mesh_order.hpp"
#include "wormcube/collectives/kit/block_array.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace wormcube {

/// One dimension of the mesh, as this node sees it.
struct MeshSide {
  int dimension;  // the topology's
  Rank stride;
  MeshLine line;
  Rank x;  // this node's coordinate

  /// The node along this side with another coordinate.
  Move to(Rank other) const { return {dimension, other - x}; }
  /// The block with these ends along this side.
  BlockName name(MeshLine::Ends ends) const {
    return {ends.source * stride, ends.destination * stride};
  }
};

/// The layouts of a node, section 3.3 of the paper, for any sizes: a place has one digit per side,
/// the slot (see MeshLine).
///
/// While a ring is active its slots are the first digit, so that each of its steps sends the end of
/// the array. In the last phase the array falls into segments by halves: bit d of a segment's mask
/// is the half in dimension d. They lie in Gray order (two dimensions: self, vertical, diagonal,
/// horizontal), so that both messages of two dimensions are contiguous; the k-th from last
/// dimension needs max(1, 2^(k-2)) pieces if sizes are even. Where halves differ in size (odd
/// sizes) segments end in gaps.
///
/// Example, 4x4, the block (2,1)->(3,3). Coordinates of node (2,1) have different parities: it
/// takes dimension 0 first. Its rings are 2,0 and 1,3. Row 3 is in its own cell, the partner's:
/// slot 1; column 3 is the next cell's, parity 1: slot 2. First ring: place 1*4 + 2 = 6, which
/// stays. Second ring: 2*4 + 1 = 9, in the last pair, which goes to (2,3). There it has come from
/// one member back and is for (2,3)'s own column: slot 2 still. In halves, it is for the other row
/// and this column: mask 01, the second segment; in both rings the 0th and the 1st of the half:
/// place 4 + 0*2 + 1 = 5. It stays in the exchange along dimension 1 and goes to (3,3), place 5, in
/// the exchange along dimension 0.
class MeshPlaces {
 public:
  MeshPlaces(const Topology& topology, Rank rank, MeshRing ring);

  /// Sides of two or more coordinates; the others have no links and take no part.
  int sides() const { return static_cast<int>(sides_.size()); }
  const MeshSide& side(int d) const { return sides_[d]; }
  std::vector<Rank> sizes() const;
  /// Bit d: the coordinate on side d is odd.
  std::uint32_t parities() const;
  /// Places that are needed: all sides rounded up to even.
  Rank capacity() const { return capacity_; }

  /// While the ring of side d is active, before or after its steps. Bits of `done`: the rings that
  /// were active, this one included after its steps.
  Layout in_ring(int d, std::uint32_t done) const;
  /// The last `pairs` pairs of slots of side d, in its ring.
  Slices last_pairs(int d, Rank pairs) const;

  /// In the last phase, before all exchanges of halves or after them.
  Layout in_halves(bool exchanged) const;
  /// The blocks for the partner on side d, or those from it: the segments of half 1. Exchanges run
  /// from the last side to the first.
  Slices second_half(int d, bool exchanged) const;

 private:
  std::vector<MeshSide> sides_;
  Rank capacity_ = 1;
};

// Odd sizes, which are ours: before the first ring, odd nodes send the blocks for the unpaired last
// coordinate to their even partners, in one step per odd size, in ascending order (see MeshLine).

bool has_odd_size(const MeshPlaces& places);
/// Lays the blocks out and takes these steps. Returns where blocks and guests lie afterwards.
Layout hand_over_guests(const MeshPlaces& places, BlockArray& array);

/// One side's digit before its ring: the block in each slot.
Digit slots_before_ring(const MeshSide& side);

}  // namespace wormcube
