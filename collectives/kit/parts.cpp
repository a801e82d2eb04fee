// Parts of one block.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/parts.hpp"

#include "wormcube/collectives/kit/halving.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <array>

namespace wormcube {

std::vector<Bytes> part_offsets(Bytes bytes, Bytes element_bytes, Rank parts) {
  const Bytes elements = bytes / element_bytes;
  std::vector<Bytes> offsets;
  for (Rank part = 0; part <= parts; ++part) {
    offsets.push_back(elements * static_cast<Bytes>(part) / static_cast<Bytes>(parts) *
                      element_bytes);
  }
  return offsets;
}

void gather_parts(Node& node, Blocks parts, Rank root) {
  const Rank r = node.rank();
  const std::vector<Halving> levels = halvings(node.size(), root, r);
  // Invariant: the holder of each interval done has the parts of its nodes.
  for (auto at = levels.rbegin(); at != levels.rend(); ++at) {
    const Halving& level = *at;
    const auto half = [&] { return parts.range(level.lower, level.upper - level.lower); };
    if (level.alone() || (r != level.holder && r != level.heir)) {
      node.step();
    } else if (r == level.holder) {
      node.step({receive(level.heir, half())});
    } else {
      node.step({send(level.holder, half())});
    }
  }
}

void allgather_parts(Node& node, Blocks parts) {
  const Rank p = node.size(), r = node.rank();
  // `count` parts from `first` on, round the circle: two pieces.
  const auto circle = [&](Rank first, Rank count) {
    const Rank straight = std::min(count, p - first);
    return std::array{parts.range(first, straight), parts.range(0, count - straight)};
  };
  // Invariant: before a step this node has the `held` parts from its own on.
  for (Rank held = 1; held < p; held *= 2) {
    const Rank count = std::min(held, p - held), from = mod(r + held, p);
    const auto going = circle(r, count), coming = circle(from, count);
    node.step({send_pieces(mod(r - held, p), going), receive_pieces(from, coming)});
  }
}

std::vector<Messages> allgather_parts_messages(Rank p, double part) {
  std::vector<Messages> steps;
  for (Rank held = 1; held < p; held *= 2) {
    Messages& step = steps.emplace_back();
    for (Rank r = 0; r < p; ++r) {
      step.push_back({r, mod(r - held, p), part * std::min(held, p - held)});
    }
  }
  return steps;
}

}  // namespace wormcube
