// Interval halving.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/halving.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <algorithm>

namespace wormcube {

std::vector<Halving> halvings(Rank p, Rank root, Rank rank) {
  std::vector<Halving> levels;
  Rank low = 0, high = p, holder = root;
  for (int t = 0; t < log2_ceiling(p); ++t) {
    if (high - low == 1) {
      levels.push_back({rank, rank, rank, rank});
      continue;
    }
    const Rank half = (high - low) / 2;
    const Rank middle = holder < high - half ? high - half : low + half;
    const bool holder_low = holder < middle, low_half = rank < middle;
    const Halving level{holder, holder_low ? middle : low, holder_low ? middle : low,
                        holder_low ? high : middle};
    levels.push_back(level);
    (low_half ? high : low) = middle;
    if (low_half != holder_low) holder = level.heir;
  }
  return levels;
}

std::vector<Messages> halving_messages(Rank p, Rank root, bool gathers, double blocks) {
  std::vector<Messages> steps(static_cast<std::size_t>(log2_ceiling(p)));
  for (Rank r = 0; r < p; ++r) {
    const std::vector<Halving> levels = halvings(p, root, r);
    for (std::size_t t = 0; t < levels.size(); ++t) {
      const Halving& level = levels[t];
      if (level.alone() || level.heir != r) continue;
      steps[levels.size() - 1 - t].push_back(
          {r, level.holder, gathers ? blocks * (level.upper - level.lower) : blocks});
    }
  }
  return steps;
}

}  // namespace wormcube
