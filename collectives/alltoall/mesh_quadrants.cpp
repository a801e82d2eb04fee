// Blocks by quadrants: places of one digit per level.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_quadrants.hpp"

#include <utility>

namespace wormcube {

MeshQuadrants::MeshQuadrants(const Topology& topology, Rank rank)
    : rank_(rank), side_(topology.size(0)), half_(side_ / 2), array_(topology.nodes()) {
  array_.lay_out(layout(half_, side_));
}

/// The difference to the node at the same place of another quadrant of a square of side 2 half.
Rank MeshQuadrants::across(Part part, Rank half) const {
  const bool other_row = part == vertical || part == diagonal;
  const bool other_column = part == horizontal || part == diagonal;
  return (other_row ? half * side_ : 0) ^ (other_column ? half : 0);
}

/// The level of this half comes first, the lower ones follow, then the higher ones. Levels with a
/// half of `done` or more have done their exchanges: their digits say where blocks are from.
Layout MeshQuadrants::layout(Rank first, Rank done) const {
  Places places;
  Rank half = first;
  for (Rank levels = 1; levels < side_; levels *= 2) {
    const Rank here = rank_ & across(diagonal, half);
    Digit digit;
    for (const Part part : {self, vertical, diagonal, horizontal}) {
      const Rank there = here ^ across(part, half);
      digit.push_back(half >= done ? BlockName{there, here} : BlockName{here, there});
    }
    places.digits.push_back(std::move(digit));
    half = half > 1 ? half / 2 : side_ / 2;
  }
  return places;
}

void MeshQuadrants::exchange(Part towards, Part first, Part last) {
  const Rank part = side_ * side_ / 4;
  array_.exchange(rank_ ^ across(towards, half_), {{first * part, (last - first + 1) * part}});
}

bool MeshQuadrants::next_level() {
  if (half_ <= 1) return false;
  array_.rearrange(layout(half_, half_), layout(half_ / 2, half_));
  half_ /= 2;
  return true;
}

BlockArray MeshQuadrants::done() {
  array_.deliver(layout(half_, half_));
  return std::move(array_);
}

}  // namespace wormcube
