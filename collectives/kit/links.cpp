// Link loads of simple patterns on product networks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/links.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <algorithm>
#include <bit>

namespace wormcube {

bool is_power_of_two(Rank x) { return std::has_single_bit(static_cast<unsigned>(x)); }

bool intervals_are_apart_by_dimension(const Topology& topology) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    if (graph.shape() == Shape::graph) return false;
    if (graph.shape() == Shape::tree && !is_power_of_two(graph.nodes())) return false;
  }
  return true;
}

bool intervals_are_apart(const Topology& topology) {
  return intervals_are_apart_by_dimension(topology) &&
         (topology.dimensions() == 1 || std::ranges::all_of(topology.sizes(), is_power_of_two));
}

RankBit rank_bit(const Topology& topology, int bit) {
  int d = topology.dimensions() - 1;
  while (1 << bit >= topology.stride(d) * topology.size(d)) --d;
  return {d, bit - log2_ceiling(topology.stride(d))};
}

std::optional<double> load_across(const Topology& topology, int bit) {
  const auto [dimension, local] = rank_bit(topology, bit);
  switch (topology.factor(dimension).shape()) {
    case Shape::graph:
      return std::nullopt;
    case Shape::complete:
      return 1;
    case Shape::line:
    case Shape::ring:  // at half the ring all go '+'
    case Shape::tree:
      break;
  }
  return 1 << local;
}

double halvings(const Topology& topology) {
  double steps = 0;
  for (const Rank size : topology.sizes()) steps += log2_ceiling(size);
  return steps;
}

}  // namespace wormcube
