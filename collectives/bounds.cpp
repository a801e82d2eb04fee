// Lower bounds: what ports and cuts of the network allow.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/registry.hpp"

#include <algorithm>
#include <cmath>

namespace wormcube {

namespace {

/// The links that lead from one half of a graph to the other where it is cut in the middle; 0 where
/// that is not known.
double cut_links(const Graph& graph) {
  const Rank lower = graph.nodes() / 2, upper = graph.nodes() - lower;
  switch (graph.shape()) {
    case Shape::line:
    case Shape::tree:
      return 1;
    case Shape::ring:
      return graph.wraps() ? 2 : 1;
    case Shape::complete:
      return static_cast<double>(lower) * upper;
    case Shape::graph:
      return 0;
  }
  return 0;
}

/// Total exchange: cut dimension d in the middle, and each node of one half has a block for each of
/// the other. (Grama et al., problem 4.11; Dimakopoulos and Dimopoulos, bound (4).)
double exchange_through_cuts(const Topology& topology) {
  double most = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const double links = cut_links(topology.factor(d));
    if (topology.size(d) == 1 || links == 0) continue;
    const Rank lines = topology.nodes() / topology.size(d);
    const Rank lower = topology.size(d) / 2 * lines, upper = topology.nodes() - lower;
    most = std::max(most, static_cast<double>(lower) * upper / (links * lines));
  }
  return most;
}

}  // namespace

LowerBound lower_bound(Operation operation, const Topology& topology, Ports ports) {
  const Rank p = topology.nodes();
  if (p == 1) return {0, 0};
  // Messages that a node may send in a step: for start-ups the most of any node, for transmission
  // the fewest.
  int most = 1, fewest = 1;
  if (ports == Ports::all) {
    most = fewest = topology.ports(0);
    for (Rank rank = 1; rank < p; ++rank) {
      most = std::max(most, topology.ports(rank));
      fewest = std::min(fewest, topology.ports(rank));
    }
  }
  // In a step, what a node knows can come to `most` more.
  double startups = 0;
  for (double informed = 1; informed < p; informed *= most + 1) ++startups;

  const double others = p - 1;
  switch (operation) {
    case Operation::broadcast:
      return {startups, 1.0 / fewest};
    case Operation::allgather:
      return {startups, others / fewest};
    case Operation::alltoall:
      return {startups, std::max(others / fewest, exchange_through_cuts(topology))};
    case Operation::alltoallv:
      return {};  // depends on the sizes
    case Operation::barrier:
      return {startups, 0};
  }
  return {};
}

}  // namespace wormcube
