// Where blocks lie during kim-a1 and kim-recursive, as digits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/kim_places.hpp"

#include "wormcube/runtime/base/numbers.hpp"

#include <bit>
#include <vector>

namespace wormcube {

namespace {

/// The highest level, up to k, at which a node is a master.
int level_of(const Topology& topology, Rank rank, int divisions) {
  Rank sum = 0;
  for (int d = 0; d < topology.dimensions(); ++d) sum ^= topology.coordinate(rank, d);
  int level = 0;
  while (level < divisions && (sum >> level & 1) == 0) ++level;
  return level;
}

}  // namespace

KimPlaces::KimPlaces(const Topology& topology, Rank rank, int divisions)
    : topology_(topology),
      rank_(rank),
      divisions_(divisions),
      level_(level_of(topology, rank, divisions)),
      last_(topology.dimensions() - 1) {}

Move KimPlaces::towards_partner(int i, int dimension) const {
  const Rank distance = 1 << (i - 1);
  const bool even = topology_.coordinate(rank_, dimension) / distance % 2 == 0;
  return {dimension, even ? distance : -distance};
}

Rank KimPlaces::own(int d, int from, int to) const {
  const Rank mask = (1 << to) - (1 << from);
  return (topology_.coordinate(rank_, d) & mask) * stride(d);
}

Rank KimPlaces::own_bit(int i, int d, bool other) const {
  const Rank bit = topology_.coordinate(rank_, d) >> (i - 1) & 1;
  return (bit ^ (other ? 1 : 0)) * (1 << (i - 1)) * stride(d);
}

// Digits, row-major.

/// The sources of a cell of this level, from its corner; the corner is not added.
void KimPlaces::add_sources_of_cell(int level, Places& places) const {
  for (int d = 0; d <= last_; ++d) places.digits.push_back(multiples(1 << level, {stride(d), 0}));
}

/// The delegators of a master of this level, but for their low coordinate bits (the last dimension
/// has none).
void KimPlaces::add_delegators(int level, Places& places) const {
  for (int d = 0; d <= last_; ++d) {
    const Rank side = d < last_ ? 1 << level : 1;
    places.digits.push_back(multiples(topology_.size(d) / side, {0, side * stride(d)}));
  }
}

void KimPlaces::add_all_sources(Places& places) const {
  for (int d = 0; d <= last_; ++d) {
    places.digits.push_back(multiples(topology_.size(d), {stride(d), 0}));
  }
}

/// By the moves of a block along the dimensions from 1 on, in Gray order: bit i - 1 of its
/// delegate, which is the destination's except for the last dimension. The move along dimension 0
/// follows: the delegate's coordinates add up to 0 in this bit, this node's to 1 if it is a slave.
Digit KimPlaces::delegates_by_moves(int i) const {
  Digit digit;
  for (Rank group = 0; group < 1 << last_; ++group) {
    const auto others = static_cast<unsigned>(gray_code(group));
    const bool slave = level_ < i, first = (std::popcount(others) % 2 != 0) != slave;
    Rank destination = 0;
    for (int d = 0; d < last_; ++d) {
      destination += own_bit(i, d, d == 0 ? first : (others >> (d - 1) & 1) != 0);
    }
    digit.push_back({0, destination});
  }
  return digit;
}

// Layouts.

/// Digits: the moves along dimensions 1.. in this phase, the source in the cell of level i - 1, the
/// delegator of level i.
Layout KimPlaces::before_split(int i) const {
  Places places;
  for (int d = 0; d <= last_; ++d) {
    places.base = places.base + BlockName{own(d, i - 1), d < last_ ? own(d, 0, i - 1) : 0};
  }
  places.digits.push_back(delegates_by_moves(i));
  add_sources_of_cell(i - 1, places);
  add_delegators(i, places);
  return places;
}

/// The same digits, after the move along dimension 0: it doubles the array and comes first. The
/// moves now determine bit i - 1 of the source.
Layout KimPlaces::after_split(int i) const {
  Places places;
  std::vector<Digit> moves;  // last dimension first
  for (int d = last_; d >= 0; --d) {
    places.base = places.base + BlockName{own(d, i), d < last_ ? own(d, 0, i) : 0};
    moves.push_back({{own_bit(i, d, false), 0}, {own_bit(i, d, true), 0}});
  }
  places.digits.push_back(moves.back());
  moves.pop_back();
  places.digits.push_back(in_gray_order(moves));
  add_sources_of_cell(i - 1, places);
  add_delegators(i, places);
  return places;
}

/// All blocks from one cell for one delegate. Digits: the source in its cell; the destination's low
/// bits in the last dimension.
Places KimPlaces::bundle() const {
  Places places;
  for (int d = 0; d < last_; ++d) places.base.destination += own(d, 0, divisions_);
  add_sources_of_cell(divisions_, places);
  places.digits.push_back(multiples(1 << divisions_, {0, stride(last_)}));
  return places;
}

/// Digits: stays or goes, the source, the destination's bits below i - 1 in the last dimension.
Layout KimPlaces::before_merge(int i) const {
  Places places{{0, rank_ - own(last_, 0, i)}, {}};
  places.digits.push_back({{0, own_bit(i, last_, false)}, {0, own_bit(i, last_, true)}});
  add_all_sources(places);
  places.digits.push_back(multiples(1 << (i - 1), {0, stride(last_)}));
  return places;
}

/// Digits: the source, the destination's bits below i - 1 in the last dimension.
Layout KimPlaces::after_merge(int i) const {
  Places places{{0, rank_ - own(last_, 0, i - 1)}, {}};
  add_all_sources(places);
  places.digits.push_back(multiples(1 << (i - 1), {0, stride(last_)}));
  return places;
}

Slices KimPlaces::leaving(int i, int d) const {
  const Rank groups = 1 << last_, group = blocks(i - 1) / groups;
  Slices slices;
  for (Rank g = 0; g < groups; ++g) {
    if ((gray_code(g) >> (d - 1) & 1) != 0) slices.push_back({g * group, group});
  }
  return slices;
}

}  // namespace wormcube
