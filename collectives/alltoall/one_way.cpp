// Bundles travel in one direction and shrink.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/one_way.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"

#include <array>
#include <utility>

namespace wormcube {

void alltoall_one_way(Node& node, const OneWay& way, ConstBlocks out, Blocks in) {
  const Rank p = node.size(), r = node.rank(), reach = way.reach;
  if (reach == 0) return;
  const auto at = [&](Rank distance) { return mod(r + way.sign * distance, p); };
  const auto cut = [&](auto block, Rank distance) {
    return distance == reach ? part(block, way.part, way.parts) : block;
  };
  const Bytes m = out.bytes(), bundle = m * (reach - 1) + cut(out[0], reach).size();
  const Memory first = node.memory(bundle), second = node.memory(bundle);
  Span going = first, coming = second;
  // A bundle's part for the nodes `distance` and more from its source.
  const auto from = [&](Span data, Rank distance) {
    return distance > reach ? Span{} : data.subspan(m * (distance - 1));
  };

  node.local([&] {
    for (Rank distance = 1; distance <= reach; ++distance) {
      const ConstSpan block = cut(out[at(distance)], distance);
      copy(block, from(going, distance).first(block.size()));
    }
  });
  const Rank next = at(1), previous = at(-1);
  const Move onward{0, node.topology().factor(0).hops(r, next)};
  // Invariant: before step t this node has the bundle of the node t - 1 back for those from t on.
  for (Rank t = 1; t <= reach; ++t) {
    const std::array arriving{cut(in[at(-t)], t), from(coming, t + 1)};
    node.step({send(onward, from(going, t)), receive_pieces(previous, arriving)});
    std::swap(going, coming);
  }
}

}  // namespace wormcube
