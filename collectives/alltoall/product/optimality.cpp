// Bounds of Dimakopoulos and Dimopoulos, as exact rationals.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/optimality.hpp"

#include "wormcube/collectives/alltoall/product/exchange_template.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace wormcube {

namespace {

constexpr Rank most_nodes_all_cuts = 16;

/// k (n - k) blocks each way over the links between the k marked nodes and the others.
Ratio cut(const Adjacency& graph, const std::vector<bool>& inside) {
  const auto n = static_cast<std::int64_t>(inside.size());
  const auto k = static_cast<std::int64_t>(std::ranges::count(inside, true));
  std::int64_t links = 0;
  for (Rank v = 0; v < graph.nodes(); ++v) {
    if (!inside[v]) continue;
    links += std::ranges::count_if(graph.neighbours[v], [&](Rank w) { return !inside[w]; });
  }
  return links == 0 ? Ratio{} : Ratio::of(k * (n - k), links);
}

Ratio every_cut(const Adjacency& graph) {
  const auto n = static_cast<unsigned>(graph.nodes());
  Ratio worst;
  std::vector<bool> inside(n);
  for (unsigned set = 1; set < 1U << (n - 1); ++set) {
    for (unsigned v = 0; v < n; ++v) inside[v] = (set >> v & 1U) != 0;
    worst = std::max(worst, cut(graph, inside));
  }
  return worst;
}

Ratio cuts_around_nodes(const Adjacency& graph) {
  const Distances hops(graph);
  const Rank n = graph.nodes();
  Ratio worst;
  std::vector<bool> inside(static_cast<std::size_t>(n));
  // Around a node by distance; and on either side of a link: who is nearer to which end.
  for (Rank u = 0; u < n; ++u) {
    for (int radius = 0; radius < n; ++radius) {
      bool all = true;
      for (Rank v = 0; v < n; ++v) all = (inside[v] = hops(u, v) <= radius) && all;
      if (all) break;
      worst = std::max(worst, cut(graph, inside));
    }
    for (const Rank w : graph.neighbours[u]) {
      for (Rank v = 0; v < n; ++v) inside[v] = hops(u, v) < hops(w, v);
      worst = std::max(worst, cut(graph, inside));
    }
  }
  return worst;
}

Ratio factor_cut_bound(const Graph& graph) {
  const std::int64_t n = graph.nodes(), halves = n / 2 * ((n + 1) / 2);
  switch (graph.shape()) {
    case Shape::complete:
      return {1, 1};
    case Shape::line:
    case Shape::tree:
      return {halves, 1};
    case Shape::ring:
      return Ratio::of(halves, graph.wraps() ? 2 : 1);
    case Shape::graph:
      break;
  }
  const Adjacency adjacency = Adjacency::of(graph);
  return n <= most_nodes_all_cuts ? every_cut(adjacency) : cuts_around_nodes(adjacency);
}

}  // namespace

Ratio Ratio::of(std::int64_t num, std::int64_t den) {
  const std::int64_t common = std::gcd(num, den);
  return {num / common, den / common};
}

Ratio average_status(const Topology& topology) {
  Ratio sum;
  for (int i = 0; i < topology.dimensions(); ++i) {
    const std::int64_t n = topology.size(i);
    const Distances hops(Adjacency::of(topology.factor(i)));
    sum = sum + Ratio::of(topology.nodes() * hops.total(), n * n);
  }
  return sum;
}

Ratio cut_bound(const Topology& topology) {
  Ratio worst;
  for (int i = 0; i < topology.dimensions(); ++i) {
    if (topology.size(i) == 1) continue;
    const Ratio bound = factor_cut_bound(topology.factor(i));
    worst =
        std::max(worst, Ratio::of(bound.num * (topology.nodes() / topology.size(i)), bound.den));
  }
  return worst;
}

Ratio tree_bound(const Topology& topology) {
  int dimension = -1;
  for (int i = 0; i < topology.dimensions(); ++i) {
    if (topology.size(i) == 1) continue;
    if (dimension >= 0) return {};
    dimension = i;
  }
  if (dimension < 0) return {};
  const Adjacency graph = Adjacency::of(topology.factor(dimension));
  const Rank n = graph.nodes();
  std::size_t ends = 0;
  for (const auto& list : graph.neighbours) ends += list.size();
  if (ends != 2 * (static_cast<std::size_t>(n) - 1)) return {};
  // Routes are unique: node v sends its own n-1 blocks, and those that pass through it.
  const Distances hops(graph);
  std::int64_t most = 0;
  for (Rank v = 0; v < n; ++v) {
    std::int64_t sends = n - 1;
    for (Rank s = 0; s < n; ++s) {
      for (Rank d = 0; d < n; ++d) {
        if (s != v && d != v && s != d && hops(s, v) + hops(v, d) == hops(s, d)) ++sends;
      }
    }
    most = std::max(most, sends);
  }
  return {most, 1};
}

Optimality optimality(const Topology& topology, Ports ports, std::int64_t steps) {
  const Ratio bound = ports == Ports::one ? std::max(average_status(topology), tree_bound(topology))
                                          : cut_bound(topology);
  return {steps, bound};
}

}  // namespace wormcube
