// Breadth-first broadcast: how the blocks that come to a node in one step divide among its links.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace wormcube {

/// Blocks that come to a node in one step, all of which the same of its neighbours have.
struct BfbArrivals {
  std::uint64_t from;  ///< bit i: its neighbour i
  std::int64_t blocks;
  friend bool operator<(const BfbArrivals& a, const BfbArrivals& b) {
    return std::tie(a.from, a.blocks) < std::tie(b.from, b.blocks);
  }
};

/// The blocks that a set of neighbours must send through this many links.
struct BfbLoad {
  std::int64_t blocks = 0, links = 1;
  friend bool operator<(const BfbLoad& a, const BfbLoad& b) {
    return std::tie(a.blocks, a.links) < std::tie(b.blocks, b.links);
  }
};

/// The least load of the busiest link, when blocks may be cut: the largest of blocks / links, over
/// all sets of neighbours and the blocks that only these have (Hall's theorem).
BfbLoad bfb_load(std::span<const BfbArrivals> arrivals);

/// How many of the `parts` of the blocks come from each neighbour, [arrivals][neighbour], at most
/// `most` from each; up to the last neighbour that any of them comes from. There must be such a
/// split.
std::vector<std::vector<std::int64_t>> bfb_split(std::span<const BfbArrivals> arrivals,
                                                 std::int64_t parts, std::int64_t most);

}  // namespace wormcube
