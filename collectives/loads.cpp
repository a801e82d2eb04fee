// Contention of an algorithm given as its messages.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/loads.hpp"

#include <cmath>

namespace wormcube {

namespace {

/// Whether all routes together are too long to walk.
bool takes_long(const Topology& topology, std::span<const Messages> steps) {
  constexpr double most_hops = 1 << 24;
  double messages = 0, length = 1;
  for (const Messages& step : steps) messages += static_cast<double>(step.size());
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    if (!graph.routable()) return true;
    length += graph.shape() == Shape::complete ? 1
              : graph.has_direction()          ? graph.nodes()
                                               : 2 * std::sqrt(graph.nodes());
  }
  return messages * length > most_hops;
}

}  // namespace

void predict_contention(Prediction& prediction, const Topology& topology,
                        std::span<const Messages> steps) {
  if (takes_long(topology, steps)) return;
  PatternSteps sum(topology);
  for (const Messages& step : steps) sum.add(step);
  prediction = sum.with_loads(prediction);
}

}  // namespace wormcube
