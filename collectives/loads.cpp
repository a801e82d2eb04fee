// Messages on links.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/loads.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

namespace wormcube {

namespace {

/// Calls use(link) for each link from one node to another.
template <class Use>
void walk(const Topology& topology, Message message, Use use) {
  Rank at = message.from;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Graph& graph = topology.factor(d);
    const Rank line = topology.line(at, d), to = topology.coordinate(message.to, d);
    const auto take = [&](std::int64_t link) { use(topology.link({d, line, link})); };
    Rank vertex = topology.coordinate(at, d);
    if (graph.has_direction()) {
      const int hops = graph.hops(vertex, to), sign = hops > 0 ? 1 : -1;
      for (; vertex != to; vertex = graph.moved(vertex, sign)) {
        take(graph.link(vertex, hops > 0 || graph.ports(vertex) == 1 ? 0 : 1));
      }
    } else {
      for (bool up = true; vertex != to;) {
        const std::int64_t link = graph.next(vertex, to, up);
        take(link);
        vertex = graph.ends(link).to;
      }
    }
    at = topology.with(at, d, to);
  }
}

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

/// Messages on each link. A dense network has more links than there is memory for: of many links, those
/// used.
class Loads {
 public:
  explicit Loads(Link links) {
    constexpr Link most_dense = 1 << 22;
    if (links <= most_dense) dense_.resize(static_cast<std::size_t>(links));
  }
  int& operator[](Link link) {
    return dense_.empty() ? used_[link] : dense_[static_cast<std::size_t>(link)];
  }
  void clear() {
    std::ranges::fill(dense_, 0);
    used_.clear();
  }

 private:
  std::vector<int> dense_;
  std::unordered_map<Link, int> used_;
};

}  // namespace

void predict_contention(Prediction& prediction, const Topology& topology,
                        std::span<const Messages> steps) {
  if (takes_long(topology, steps)) return;
  Loads loads(topology.links());
  int most = 0;
  double contended = 0;
  for (const Messages& step : steps) {
    loads.clear();
    for (const Message& message : step) {
      walk(topology, message, [&](Link link) { most = std::max(most, ++loads[link]); });
    }
    double cost = 0;
    for (const Message& message : step) {
      int busiest = 1;
      walk(topology, message, [&](Link link) { busiest = std::max(busiest, loads[link]); });
      cost = std::max(cost, message.blocks * busiest);
    }
    contended += cost;
  }
  prediction.link_load = most;
  prediction.contended_blocks = contended;
}

}  // namespace wormcube
