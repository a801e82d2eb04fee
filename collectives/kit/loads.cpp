// Contention of an algorithm given as its messages.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/loads.hpp"

#include "wormcube/collectives/kit/hops.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace wormcube {

namespace {

/// Whether all routes together are too long to trace.
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

std::optional<Rank> shift_link_load(const Topology& topology, Rank offset) {
  Rank most = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Rank n = topology.size(d), digit = topology.coordinate(offset, d);
    const bool carries = offset % topology.stride(d) != 0;
    const Shape shape = topology.factor(d).shape();
    if (shape == Shape::graph) return std::nullopt;
    for (const Rank o : {digit, carries ? (digit + 1) % n : digit}) {
      most = std::max(most, shape == Shape::complete ? std::min(o, 1) : std::min(o, n - o));
    }
  }
  return most;
}

void predict_shifts(Prediction& prediction, const Topology& topology) {
  prediction.hops = hops_of_all_shifts(topology);
  double most = 0, sum = 0;
  for (Rank i = 1; i < topology.nodes(); ++i) {
    const std::optional<Rank> load = shift_link_load(topology, i);
    if (!load) return;
    most = std::max<double>(most, *load);
    sum += *load;
  }
  prediction.link_load = most;
  prediction.link_blocks = sum;
}

namespace {

/// The load of all exchanges of one dimension: node r with node r xor t, by t.
std::vector<int> exchange_loads(const Graph& graph) {
  const Rank n = graph.nodes();
  std::vector<int> loads(static_cast<std::size_t>(n));
  const Topology alone({graph});
  for (Rank t = 1; t < n; ++t) {
    int& load = loads[static_cast<std::size_t>(t)];
    if (graph.shape() == Shape::line || graph.shape() == Shape::tree) {
      load = static_cast<int>(std::bit_floor(static_cast<unsigned>(t)));
    } else if (graph.shape() == Shape::complete) {
      load = 1;
    } else {
      PatternSteps step(alone);
      step.add_permutation(1, [t](Rank r) { return r ^ t; });
      load = static_cast<int>(step.with_loads({}).link_load.value_or(-1));
    }
  }
  return loads;
}

/// Loads of large rings, and all routes of a graph together, take long to compute.
constexpr Rank most_nodes_of_ring = 4096, most_nodes_of_graph = 1024;

}  // namespace

void predict_exchanges(Prediction& prediction, const Topology& topology) {
  prediction.hops = hops_of_all_exchanges(topology);
  const Rank p = topology.nodes();
  std::vector<std::vector<int>> loads;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Shape shape = topology.factor(d).shape();
    if ((shape == Shape::graph && topology.size(d) > most_nodes_of_graph) ||
        (shape == Shape::ring && topology.size(d) > most_nodes_of_ring)) {
      return;
    }
    loads.push_back(exchange_loads(topology.factor(d)));
  }
  // All messages of a step are exchanges by one digit in each dimension, in all its copies alike.
  double most = 0, sum = 0;
  for (Rank t = 1; t < p; ++t) {
    int load = 0;
    for (int d = 0; d < topology.dimensions(); ++d) {
      const int own =
          loads[static_cast<std::size_t>(d)][static_cast<std::size_t>(topology.coordinate(t, d))];
      if (own < 0) return;
      load = std::max(load, own);
    }
    most = std::max<double>(most, load);
    sum += load;
  }
  prediction.link_load = most;
  prediction.link_blocks = sum;
}

}  // namespace wormcube
