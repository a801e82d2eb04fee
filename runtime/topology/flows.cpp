// Bounds by cuts: closed forms first, then max-flow with Newton's method on the ratio.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/flows.hpp"

#include "wormcube/runtime/topology/cuts.hpp"
#include "wormcube/runtime/topology/max_flow.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace wormcube::theory {

LinkBound broadcast_bound(const Topology& topology) {
  if (topology.nodes() == 1) return {0, true, "one node"};
  if (const auto cables = edge_connectivity(topology)) {
    return {1.0 / static_cast<double>(*cables), true, "edge connectivity"};
  }
  std::int64_t cables = unlimited;
  for (const KnownCut& cut : known_cuts(topology)) cables = std::min(cables, cut.cables);
  return {1.0 / static_cast<double>(cables), false, "cut"};
}

LinkBound allgather_bound(const Topology& topology) {
  const Rank n = topology.nodes();
  if (n == 1) return {0, true, "one node"};
  // At most n - 1 blocks lie outside, at least edge_connectivity links lead inside.
  const int ports = degrees(topology).first;
  if (edge_connectivity(topology) == ports)
    return {static_cast<double>(n - 1) / ports, true, "ports"};
  const std::vector<std::int64_t> blocks(n, 1);
  return gathering_bound(topology, blocks);
}

LinkBound gathering_bound(const Topology& topology, std::span<const std::int64_t> blocks, Rank to) {
  const Rank n = topology.nodes();
  if (n == 1) return {0, true, "one node"};
  const std::int64_t all = std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
  // In time more / cables: what node v lacks over its links.
  Rational time = 0;
  std::string_view source = "ports";
  for (Rank v = to < 0 ? 0 : to; v < (to < 0 ? n : to + 1); ++v) {
    time = std::max(time, Rational(all - blocks[v], topology.ports(v)));
  }
  const std::int64_t inside = to < 0 ? *std::ranges::min_element(blocks) : blocks[to];
  const auto connectivity = edge_connectivity(topology);
  if (connectivity && time >= Rational(all - inside, *connectivity)) {
    return {time.value(), true, source};
  }
  if (!affordable(to < 0 ? n : 1, topology.links() + n)) {
    if (to < 0 && all == n) {
      for (const KnownCut& cut : known_cuts(topology)) {
        const Rational other(n - cut.inside, cut.cables);
        if (other > time) time = other, source = "cut";
      }
    }
    return {time.value(), false, source};
  }
  // Within time a / b all blocks reach v if b of each block flow there over links of a. If not, the
  // smallest cut needs more time, with which the search continues.
  const Vertices vertices(topology);
  FlowNetwork network(vertices.all + 1);
  const Rank origin = vertices.all;
  for (Rank v = 0; v < n; ++v) network.add(origin, v, 0);
  for (const auto& [from, end] : vertices.links) network.add(from, end, 0);
  const auto set_time = [&] {
    for (Rank v = 0; v < n; ++v) network.capacity(v, blocks[v] * time.denominator());
    for (std::size_t i = 0; i < vertices.links.size(); ++i) {
      network.capacity(n + i, time.numerator());
    }
  };
  set_time();
  for (Rank v = to < 0 ? 0 : to; v < (to < 0 ? n : to + 1); ++v) {
    while (network.flow(origin, v) < all * time.denominator()) {
      std::int64_t outside = 0, links = 0;
      for (Rank u = 0; u < n; ++u) outside += network.on_source_side(u) ? blocks[u] : 0;
      for (const auto& [from, end] : vertices.links) {
        links += network.on_source_side(from) && !network.on_source_side(end) ? 1 : 0;
      }
      time = Rational(outside, links);
      source = "max-flow";
      set_time();
    }
  }
  return {time.value(), true, source};
}

namespace {

/// A partition of the nodes that minimises (cables between parts) - strength x (parts - 1), for
/// strength b / a: greedily, node by node (Barahona), by a cut each. Nothing if no partition makes
/// it negative; else (parts, cables).
std::optional<std::pair<Rank, std::int64_t>> weakest_partition(const Vertices& vertices,
                                                               const Rational& time) {
  const Rank n = vertices.nodes;
  const std::int64_t a = time.numerator(), b = time.denominator();
  FlowNetwork network(n + 2);
  const Rank from = n, rest = n + 1;
  std::vector<std::size_t> gain, loss;  // arcs from the source, to the sink
  for (Rank v = 0; v < n; ++v) {
    gain.push_back(network.add(from, v, 0));
    loss.push_back(network.add(v, rest, unlimited));  // later nodes are outside
  }
  for (const auto& [u, v] : vertices.links) network.add(u, v, a);
  std::vector<std::int64_t> weight(n, 0);
  std::vector<Rank> part(n);
  std::int64_t gains = 0, sum = 0;
  for (Rank v = 0; v < n; ++v) {
    network.capacity(gain[v], unlimited);
    network.capacity(loss[v], 0);
    weight[v] = network.flow(from, rest) - gains - 2 * b;
    sum += weight[v];
    std::vector<char> merged(n, 0);  // the parts that the smallest set with v meets
    for (Rank u = 0; u < v; ++u) {
      if (network.on_source_side(u)) merged[part[u]] = 1;
    }
    for (Rank u = 0; u < v; ++u) {
      if (merged[part[u]] != 0) part[u] = v;
    }
    part[v] = v;
    network.capacity(gain[v], std::max<std::int64_t>(weight[v], 0));
    network.capacity(loss[v], std::max<std::int64_t>(-weight[v], 0));
    gains += std::max<std::int64_t>(weight[v], 0);
  }
  if (sum >= -2 * b) return std::nullopt;
  std::vector<char> is_part(n, 0);
  for (const Rank p : part) is_part[p] = 1;
  std::int64_t links = 0;
  for (const auto& [u, v] : vertices.links) links += part[u] != part[v] ? 1 : 0;
  return std::pair(static_cast<Rank>(std::ranges::count(is_part, 1)), links / 2);
}

}  // namespace

LinkBound allreduce_bound(const Topology& topology) {
  const Rank n = topology.nodes();
  if (n == 1) return {0, true, "one node"};
  const LinkBound single = broadcast_bound(topology);
  // Each of n - 1 blocks is combined with another, and each of n - 1 nodes gets the result: 2 (n -
  // 1) blocks leave nodes in total.
  std::int64_t ports = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    std::int64_t of_line = 0;
    for (Rank v = 0; v < graph.nodes(); ++v) of_line += graph.ports(v);
    ports += of_line * (n / graph.nodes());
  }
  const Rational every(2 * (std::int64_t{n} - 1), ports);
  LinkBound best =
      every.value() >= single.blocks ? LinkBound{every.value(), false, "links"} : single;
  best.tight = false;
  if (has_switches(topology)) return best;
  const auto [least, most] = degrees(topology);
  const auto connectivity = edge_connectivity(topology);
  // k parts have at least k x connectivity / 2 cables between them.
  if (connectivity && *connectivity == most) return {every.value(), true, "links"};
  if (!affordable(n, topology.links() + 2 * n)) return best;
  Rational time = every;
  if (connectivity) time = std::max(time, Rational(1, *connectivity));
  const Vertices vertices(topology);
  while (const auto parts = weakest_partition(vertices, time)) {
    const Rational more(parts->first - 1, parts->second);
    if (more <= time) return {time.value(), false, "strength"};
    time = more;
    best.source = "strength";
  }
  return {time.value(), true, time == every ? "links" : best.source};
}

}  // namespace wormcube::theory
