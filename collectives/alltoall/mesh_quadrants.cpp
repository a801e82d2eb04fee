// Blocks by quadrants: places of one digit per level.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_quadrants.hpp"

#include "wormcube/collectives/alltoall/mesh_order.hpp"
#include "wormcube/runtime/error.hpp"

#include <bit>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

MeshQuadrants::MeshQuadrants(Node& node, ConstBlocks out)
    : node_(node),
      side_(node.topology().size(0)),
      row_(node.rank() / side_),
      column_(node.rank() % side_),
      half_(side_ / 2),
      bytes_(out.bytes()),
      memory_(node.memory(out.all().size(), Purpose::blocks)),
      second_(node.memory(out.all().size(), Purpose::staging)),
      now_(memory_),
      other_(second_) {
  node_.local([&] {
    for (Rank i = 0; i < node_.size(); ++i) copy(out[relative(i)], block(now_, i));
  });
}

/// The node at the same place of another quadrant of a square of side 2 half.
Rank MeshQuadrants::across(Part part, Rank half) const {
  const bool other_row = part == vertical || part == diagonal;
  const bool other_column = part == horizontal || part == diagonal;
  return (other_row ? half * side_ : 0) ^ (other_column ? half : 0);
}

/// The node that a place speaks of, when its digits are in the order of the levels.
Rank MeshQuadrants::relative(Rank place) const {
  Rank rank = node_.rank();
  for (Rank half = 1; half < side_; half *= 2, place /= 4) {
    rank ^= across(static_cast<Part>(place % 4), half);
  }
  return rank;
}

void MeshQuadrants::exchange(Part towards, Part first, Part last) {
  const Bytes part = now_.size() / 4, begin = first * part, count = (last - first + 1) * part;
  const Span going = now_.subspan(begin, count), coming = other_.subspan(begin, count);
  const Rank partner = node_.rank() ^ across(towards, half_);
  node_.step({send(partner, going), receive(partner, coming)});
  node_.local([&] { copy(coming, going); });
}

bool MeshQuadrants::next_level() {
  half_ /= 2;
  if (half_ == 0) return false;
  const Rank quarter = node_.size() / 4;
  node_.rearrange(now_.size(), [&] {  // the first digit becomes the last
    for (Rank i = 0; i < node_.size(); ++i) {
      copy(block(now_, i), block(other_, i % quarter * 4 + i / quarter));
    }
  });
  std::swap(now_, other_);
  return true;
}

void MeshQuadrants::deliver(Blocks in) {
  // The last level's digit is still the first.
  const Rank quarter = std::max(node_.size() / 4, Rank{1});
  node_.local([&] {
    for (Rank i = 0; i < node_.size(); ++i) {
      copy(block(now_, i), in[relative(i % quarter * 4 + i / quarter)]);
    }
  });
}

}  // namespace wormcube
