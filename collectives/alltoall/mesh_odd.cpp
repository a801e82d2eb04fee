// Odd sizes in suh-mesh: blocks for the unpaired last coordinate go to the even partners.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_places.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace wormcube {

namespace {

/// The transfer to the partner on side d: its digit is the first, the destination; then a guest's
/// for all that is transferred. Sides that had their turn have their slots, the others all
/// destinations.
Layout by_destination(const MeshPlaces& places, int d, Digit first) {
  Places layout{{}, {std::move(first)}};
  for (int e = 0; e < places.sides(); ++e) {
    const MeshSide& side = places.side(e);
    if (e < d) layout.digits.push_back(slots_before_ring(side));
    if (e > d) {
      layout.digits.push_back(multiples(side.line.size(), {0, side.stride}));
      layout.base.source += side.x * side.stride;
    }
  }
  return layout;
}

}  // namespace

bool has_odd_size(const MeshPlaces& places) {
  for (int d = 0; d < places.sides(); ++d) {
    if (places.side(d).line.has_odd_size()) return true;
  }
  return false;
}

Layout hand_over_guests(const MeshPlaces& places, BlockArray& array) {
  std::optional<Layout> held;
  for (int d = 0; d < places.sides(); ++d) {
    const MeshSide& side = places.side(d);
    if (!side.line.has_odd_size()) continue;
    const Rank x = side.x, last = side.line.size() - 1;

    Digit digit;
    for (Rank b = 0; b <= last; ++b) digit.push_back(side.name({x, b}));
    const Layout before = by_destination(places, d, digit);
    if (held) {
      array.rearrange(*held, before, Charge::none);
    } else {
      array.lay_out(before);
    }

    const Rank blocks = before.count() / side.line.size();  // for one coordinate
    if (x % 2 != 0) {
      array.send(side.to(x - 1), {{last * blocks, blocks}});
      digit.pop_back();
    } else if (!side.line.is_unpaired(x)) {
      array.receive(side.to(x + 1), {{(last + 1) * blocks, blocks}});
      digit.push_back(side.name({x + 1, last}));
    } else {
      array.idle();
    }
    held = by_destination(places, d, digit);
  }
  return *held;
}

}  // namespace wormcube
