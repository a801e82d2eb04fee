// The rings of a line, the orders of suh-mesh, and their costs in closed form.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_order.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Steps of the longer ring of a line.
Rank ring_length(Rank size) { return (size + 1) / 2 - 1; }

/// The dimensions, longest first; of equal ones the last, so that X is first as in the paper.
std::vector<int> longest_first(std::span<const Rank> sizes) {
  std::vector<int> dimensions(sizes.size());
  std::iota(dimensions.rbegin(), dimensions.rend(), 0);
  std::ranges::stable_sort(dimensions, std::greater{}, [&](int d) { return sizes[d]; });
  return dimensions;
}

/// Slots along one dimension of nodes with this parity, the most among them.
std::int64_t group_slots(Rank size, std::uint32_t parities, int dimension) {
  return 2 * std::int64_t{MeshLine(size).members(static_cast<Rank>(parities >> dimension & 1))};
}

std::int64_t group_blocks(std::span<const Rank> sizes, std::uint32_t parities) {
  std::int64_t blocks = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    blocks *= group_slots(sizes[d], parities, static_cast<int>(d));
  }
  return blocks;
}

}  // namespace

Rank MeshLine::ahead(Rank x, Rank places) const {
  const Rank parity = x % 2, cells = members(x), folds = (cells + 1) / 2;
  Rank cell = x / 2;
  if (ring_ == MeshRing::plus) return 2 * mod(cell + places, cells) + parity;
  // Folded: cells 0,2,4,... going, ...,5,3,1 coming back.
  const Rank place = mod((cell % 2 == 0 ? cell / 2 : cells - 1 - cell / 2) + places, cells);
  cell = place < folds ? 2 * place : 2 * (cells - 1 - place) + 1;
  return 2 * cell + parity;
}

MeshLine::Ends MeshLine::ends(Rank x, Rank slot) const {
  const Rank w = is_unpaired(x) && slot > 0 ? slot + 1 : slot;  // its own guest does not exist
  const Rank destination = ahead(x, w / 2) ^ (w % 2);
  return destination < size_ ? Ends{x, destination} : Ends{x + 1, size_ - 1};
}

Rank MeshLine::slot(Rank x, int half, Rank i) const {
  if (!is_unpaired(x)) return 2 * i + half;
  return half == 0 ? std::max(2 * i - 1, 0) : 2 * i + 2;
}

Rank MeshLine::source(Rank x, int half, Rank i) const {
  if (half == 0) return ahead(x, -i);
  return is_unpaired(x) ? ahead(x, -i - 1) + 1 : ahead(x ^ 1, -i);
}

std::vector<RingTurn> ring_turns(std::span<const Rank> sizes, MeshOrder order,
                                 std::uint32_t parities) {
  const std::vector<int> longest = longest_first(sizes);
  const auto length = [&](int dimension) { return ring_length(sizes[dimension]); };
  const auto parity = [&](int dimension) { return parities >> dimension & 1; };
  const bool odd = std::popcount(parities) % 2 != 0;

  std::vector<int> rings = longest;
  if (order == MeshOrder::paper) {
    rings.resize(1);
    for (std::size_t k = 1; k < longest.size(); ++k) {
      const bool last = parity(longest[k]) == (k == 1 ? parity(longest[0]) : 0);
      rings.insert(last ? rings.end() : rings.begin(), longest[k]);
    }
  } else if (odd) {
    std::rotate(rings.begin(), rings.begin() + 1, rings.end());
  }

  std::vector<RingTurn> turns;
  Rank start = 0;
  for (std::size_t k = 0; k < rings.size(); ++k) {
    turns.push_back({rings[k], start});
    start += length(order == MeshOrder::paper    ? longest[0]
                    : order == MeshOrder::parity ? longest[k]
                                                 : rings[k]);
  }
  if (odd && (order == MeshOrder::overlap || sizes.size() == 1)) {
    turns.back().start = std::max(turns.back().start, length(longest[0]));
  }
  return turns;
}

Rank ring_steps(std::span<const Rank> sizes, MeshOrder order) {
  if (sizes.empty()) return 0;
  if (sizes.size() == 1) return sizes[0] - 2;
  const Rank longest = ring_length(std::ranges::max(sizes)),
             shortest = ring_length(std::ranges::min(sizes));
  Rank sum = 0;
  for (const Rank size : sizes) sum += ring_length(size);
  if (order == MeshOrder::paper) return static_cast<Rank>(sizes.size()) * longest;
  if (order == MeshOrder::parity) return sum - shortest + longest;
  return std::max(sum, 2 * longest);
}

std::int64_t mesh_startups(std::span<const Rank> sizes, MeshOrder order) {
  const auto odd_sides = std::ranges::count_if(sizes, [](Rank size) { return size % 2 != 0; });
  return odd_sides + ring_steps(sizes, order) + std::ssize(sizes);
}

std::int64_t mesh_transmission(std::span<const Rank> sizes, MeshOrder order) {
  std::int64_t blocks = 0;
  // The exchanges with the partner, one per dimension: last to first after the rings and, in odd
  // sizes, first to last before them (one row). Either way the dimensions before d still count
  // guests, those after d do not.
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::int64_t others = 1;
    for (std::size_t e = 0; e < sizes.size(); ++e) {
      if (e != d) others *= e < d ? group_slots(sizes[e], 0, 0) : sizes[e];
    }
    blocks += others * ((sizes[d] % 2 != 0 ? 1 : 0) + (sizes[d] + 1) / 2);
  }

  std::vector<std::int64_t> largest(static_cast<std::size_t>(ring_steps(sizes, order)), 0);
  if (largest.empty()) return blocks;
  for (std::uint32_t group = 0; group < 1U << sizes.size(); ++group) {
    for (const auto [d, start] : ring_turns(sizes, order, group)) {
      const std::int64_t slots = group_slots(sizes[d], group, d);
      const std::int64_t rest = group_blocks(sizes, group) / slots;
      for (Rank s = 1; 2 * s < slots; ++s) {
        std::int64_t& most = largest[start + s - 1];
        most = std::max(most, (slots - 2 * s) * rest);
      }
    }
  }
  return std::accumulate(largest.begin(), largest.end(), blocks);
}

std::int64_t mesh_rearranged(std::span<const Rank> sizes, MeshOrder order) {
  if (sizes.empty()) return 0;
  if (order != MeshOrder::overlap) return std::ssize(sizes) * mesh_peak(sizes);
  // Without phases the groups rearrange at different times; each time counts by its largest group.
  std::vector<std::int64_t> before(static_cast<std::size_t>(ring_steps(sizes, order)) + 1, 0);
  for (std::uint32_t group = 0; group < 1U << sizes.size(); ++group) {
    std::vector<std::int64_t> own(before.size(), 0);
    const std::vector<RingTurn> turns = ring_turns(sizes, order, group);
    for (std::size_t k = 1; k < turns.size(); ++k) {
      own[turns[k].start] += group_blocks(sizes, group);
    }
    own.back() += group_blocks(sizes, group);
    for (std::size_t t = 0; t < own.size(); ++t) before[t] = std::max(before[t], own[t]);
  }
  return std::accumulate(before.begin(), before.end(), std::int64_t{0});
}

std::int64_t mesh_peak(std::span<const Rank> sizes) { return group_blocks(sizes, 0); }

}  // namespace wormcube
