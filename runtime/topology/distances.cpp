// Distances of products, from those of their factors.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/distances.hpp"

#include "wormcube/runtime/topology/cayley.hpp"

#include <algorithm>

namespace wormcube::theory {

namespace {

/// From a vertex to each node, without switches.
std::vector<int> distances_to_nodes(const Graph& graph, Rank from) {
  std::vector<int> distances = graph.distances_from(from);
  distances.resize(static_cast<std::size_t>(graph.nodes()));
  return distances;
}

Rank farthest(const std::vector<int>& distances) {
  return static_cast<Rank>(std::ranges::max_element(distances) - distances.begin());
}

/// In a tree the farthest node is one end of any longest path.
Eccentricities eccentricities_of_tree(const Graph& graph) {
  const Rank one = farthest(distances_to_nodes(graph, 0));
  const std::vector<int> from_one = distances_to_nodes(graph, one);
  const std::vector<int> from_other = distances_to_nodes(graph, farthest(from_one));
  Eccentricities result{from_one[farthest(from_one)], 0};
  result.most = result.least;
  for (std::size_t v = 0; v < from_one.size(); ++v) {
    result.least = std::min(result.least, std::max(from_one[v], from_other[v]));
  }
  return result;
}

std::optional<Eccentricities> eccentricities_of_graph(const Graph& graph) {
  constexpr std::int64_t most_visits = 1 << 27;  // of links: about a second
  const std::int64_t vertices = graph.vertices();
  if (graph.links() == 2 * (vertices - 1)) return eccentricities_of_tree(graph);
  if (vertices * graph.links() > most_visits) return std::nullopt;
  Eccentricities result{graph.vertices(), 0};
  for (Rank v = 0; v < graph.nodes(); ++v) {
    const std::vector<int> distances = graph.distances_from(v);
    const int distance = distances[farthest(distances)];
    result.least = std::min(result.least, distance);
    result.most = std::max(result.most, distance);
  }
  return result;
}

std::optional<Eccentricities> eccentricities_of_factor(const Graph& graph) {
  const int n = graph.nodes();
  switch (graph.shape()) {
    case Shape::line:
      return Eccentricities{n / 2, n - 1};
    case Shape::ring:
      return Eccentricities{n / 2, n / 2};
    case Shape::complete:
      return Eccentricities{n > 1 ? 1 : 0, n > 1 ? 1 : 0};
    case Shape::tree:
    case Shape::graph:
      break;
  }
  if (graph.cayley() == nullptr) return eccentricities_of_graph(graph);
  const auto diameter = graph.diameter();
  if (!diameter) return std::nullopt;
  return Eccentricities{*diameter, *diameter};
}

}  // namespace

std::vector<std::int64_t> nodes_by_distance(const Topology& topology, Rank from) {
  std::vector<std::int64_t> counts{1};
  for (int d = 0; d < topology.dimensions(); ++d) {
    const std::vector<int> distances =
        distances_to_nodes(topology.factor(d), topology.coordinate(from, d));
    std::vector<std::int64_t> of_factor(
        static_cast<std::size_t>(distances[farthest(distances)]) + 1, 0);
    for (const int distance : distances) ++of_factor[distance];
    std::vector<std::int64_t> sums(counts.size() + of_factor.size() - 1, 0);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      for (std::size_t j = 0; j < of_factor.size(); ++j) sums[i + j] += counts[i] * of_factor[j];
    }
    counts = std::move(sums);
  }
  return counts;
}

bool nodes_are_alike(const Topology& topology) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).cayley() == nullptr) return false;
  }
  return true;
}

std::optional<Eccentricities> eccentricities(const Topology& topology) {
  Eccentricities sum{0, 0};
  for (int d = 0; d < topology.dimensions(); ++d) {
    const auto one = eccentricities_of_factor(topology.factor(d));
    if (!one) return std::nullopt;
    sum.least += one->least;
    sum.most += one->most;
  }
  return sum;
}

}  // namespace wormcube::theory
