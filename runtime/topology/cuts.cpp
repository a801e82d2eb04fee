// Closed forms of cuts; max-flow for graphs without one.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/cuts.hpp"

#include "wormcube/runtime/topology/cayley.hpp"
#include "wormcube/runtime/topology/flows.hpp"
#include "wormcube/runtime/topology/kept.hpp"
#include "wormcube/runtime/topology/max_flow.hpp"

#include <algorithm>

namespace wormcube::theory {
namespace {

std::optional<std::int64_t> edge_connectivity(const Graph& graph) {
  switch (graph.shape()) {
    case Shape::line:
    case Shape::tree:
      return 1;
    case Shape::ring:
      return graph.wraps() ? 2 : 1;
    case Shape::complete:
      return graph.nodes() - 1;
    case Shape::graph:
      break;
  }
  if (graph.links() == 2 * (std::int64_t{graph.nodes()} - 1)) return 1;  // a tree
  // If a graph looks the same from each node, it is the degree (W. Mader, 1971).
  if (graph.cayley() != nullptr) return graph.ports(0);
  if (!affordable(graph.nodes(), graph.links())) return std::nullopt;
  static Kept<std::int64_t> kept;
  return kept(graph, [&] { return smallest_cut(Vertices(Topology({graph}))); });
}

}  // namespace

bool has_switches(const Topology& topology) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).vertices() != topology.factor(d).nodes()) return true;
  }
  return false;
}

std::pair<int, int> degrees(const Topology& topology) {
  int least = 0, most = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    int fewest = graph.ports(0), highest = fewest;
    for (Rank v = 1; v < graph.nodes(); ++v) {
      fewest = std::min(fewest, graph.ports(v));
      highest = std::max(highest, graph.ports(v));
    }
    least += fewest;
    most += highest;
  }
  return {least, most};
}

std::vector<KnownCut> known_cuts(const Topology& topology) {
  std::vector<KnownCut> cuts{{1, degrees(topology).first}};
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    if (graph.nodes() == 1) continue;
    const CutBound cut = cut_bound(graph);
    const Rank lines = topology.nodes() / graph.nodes();
    cuts.push_back({cut.part * lines, cut.cables * lines});
  }
  return cuts;
}

std::optional<std::int64_t> edge_connectivity(const Topology& topology) {
  const Rank n = topology.nodes();
  if (n == 1) return std::nullopt;
  int dimensions = 0;
  for (int d = 0; d < topology.dimensions(); ++d) dimensions += topology.size(d) > 1 ? 1 : 0;
  if (has_switches(topology) && dimensions > 1) {
    if (!affordable(n, topology.links())) return std::nullopt;
    return smallest_cut(Vertices(topology));
  }
  // Either all copies of a dimension are cut, or one node is cut off.
  std::int64_t least = degrees(topology).first;
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) == 1) continue;
    const auto cables = edge_connectivity(topology.factor(d));
    if (!cables) return std::nullopt;
    least = std::min(least, *cables * (n / topology.size(d)));
  }
  return least;
}

}  // namespace wormcube::theory
