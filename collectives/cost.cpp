// The cost model, and what ports and cuts of a network allow.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/cost.hpp"

#include <algorithm>

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

std::string_view to_string(Ports ports) { return ports == Ports::one ? "one" : "all"; }

double predicted_us(const Prediction& prediction, const CostModel& model, Bytes block_bytes) {
  const auto transmission =
      prediction.contended_blocks ? prediction.contended_blocks : prediction.transmission_blocks;
  const auto bytes = static_cast<double>(block_bytes);
  return model.startup_us * prediction.startups.value_or(0) +
         model.transfer_us * bytes * transmission.value_or(0) +
         model.rearrange_us * bytes * prediction.rearranged_blocks.value_or(0) +
         model.combine_us * bytes * prediction.combined_blocks.value_or(0);
}

Limits limits(const Topology& topology, Ports ports) {
  const Rank p = topology.nodes();
  Limits limits{static_cast<double>(p), 0, 1, 1, exchange_through_cuts(topology)};
  if (ports == Ports::all && p > 1) {
    limits.fewest_ports = limits.most_ports = topology.ports(0);
    for (Rank rank = 1; rank < p; ++rank) {
      limits.most_ports = std::max(limits.most_ports, topology.ports(rank));
      limits.fewest_ports = std::min(limits.fewest_ports, topology.ports(rank));
    }
  }
  for (double informed = 1; informed < p; informed *= limits.most_ports + 1) ++limits.rounds;
  return limits;
}

}  // namespace wormcube
