// Where blocks lie during suh-mesh: slots and halves as digits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_places.hpp"

#include "wormcube/runtime/base/numbers.hpp"

#include <utility>

namespace wormcube {

namespace {

int half(std::uint32_t mask, int d) { return static_cast<int>(mask >> d & 1); }

/// The blocks of a half (see MeshLine), in order.
Digit half_after_ring(const MeshSide& side, int half, bool exchanged) {
  const auto& [unused, stride, line, x] = side;
  Digit digit;
  for (Rank i = 0; i < line.in_half(x, half, exchanged); ++i) {
    if (half == 0 || exchanged || line.is_unpaired(x)) {
      digit.push_back(side.name({line.source(x, half, i), x}));
    } else {
      digit.push_back(side.name({line.source(x, 0, i), x ^ 1}));
    }
  }
  return digit;
}

/// One side's digit after its ring: the block in each slot.
Digit slots_after_ring(const MeshSide& side) {
  const auto& [unused, stride, line, x] = side;
  Digit digit(static_cast<std::size_t>(line.slots(x)));
  for (const int half : {0, 1}) {
    const Digit names = half_after_ring(side, half, false);
    for (std::size_t i = 0; i < names.size(); ++i) {
      digit[line.slot(x, half, static_cast<Rank>(i))] = names[i];
    }
  }
  return digit;
}

}  // namespace

Digit slots_before_ring(const MeshSide& side) {
  Digit digit;
  for (Rank slot = 0; slot < side.line.slots(side.x); ++slot) {
    digit.push_back(side.name(side.line.ends(side.x, slot)));
  }
  return digit;
}

MeshPlaces::MeshPlaces(const Topology& topology, Rank rank, MeshRing ring) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) < 2) continue;
    sides_.push_back(
        {d, topology.stride(d), MeshLine(topology.size(d), ring), topology.coordinate(rank, d)});
    capacity_ *= 2 * sides_.back().line.members(0);
  }
}

std::vector<Rank> MeshPlaces::sizes() const {
  std::vector<Rank> sizes;
  for (const MeshSide& side : sides_) sizes.push_back(side.line.size());
  return sizes;
}

std::uint32_t MeshPlaces::parities() const {
  std::uint32_t parities = 0;
  for (int d = 0; d < sides(); ++d) {
    parities |= static_cast<std::uint32_t>(side(d).x % 2) << d;
  }
  return parities;
}

Layout MeshPlaces::in_ring(int d, std::uint32_t done) const {
  const auto slots = [&](int e) {
    return (done >> e & 1) != 0 ? slots_after_ring(side(e)) : slots_before_ring(side(e));
  };
  Places places{{}, {slots(d)}};
  for (int e = 0; e < sides(); ++e) {
    if (e != d) places.digits.push_back(slots(e));
  }
  return places;
}

Slices MeshPlaces::last_pairs(int d, Rank pairs) const {
  Rank others = 1;
  for (int e = 0; e < sides(); ++e) others *= e == d ? 1 : side(e).line.slots(side(e).x);
  const Rank slots = side(d).line.slots(side(d).x);
  return {{(slots - 2 * pairs) * others, 2 * pairs * others}};
}

Layout MeshPlaces::in_halves(bool exchanged) const {
  const std::uint32_t segments = 1U << sides();
  const Rank room = capacity_ / static_cast<Rank>(segments);
  std::vector<Places> parts;
  for (std::uint32_t i = 0; i < segments; ++i) {
    Places segment{{}, {}, static_cast<Rank>(i) * room};
    for (int d = 0; d < sides(); ++d) {
      segment.digits.push_back(half_after_ring(side(d), half(gray_code(i), d), exchanged));
    }
    parts.push_back(std::move(segment));
  }
  return Layout(std::move(parts));
}

Slices MeshPlaces::second_half(int d, bool exchanged) const {
  const std::uint32_t segments = 1U << sides();
  const Rank room = capacity_ / static_cast<Rank>(segments);
  Slices slices;
  for (std::uint32_t i = 0; i < segments; ++i) {
    if (half(gray_code(i), d) == 0) continue;
    Rank blocks = 1;
    for (int e = 0; e < sides(); ++e) {
      const bool before = e > d || (e == d && exchanged);
      blocks *= side(e).line.in_half(side(e).x, half(gray_code(i), e), before);
    }
    slices.push_back({static_cast<Rank>(i) * room, blocks});
  }
  return slices;
}

}  // namespace wormcube
