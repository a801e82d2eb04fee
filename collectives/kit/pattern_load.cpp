// Load of a step's messages: difference sums along lines and rings, link by link elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/pattern_load.hpp"

#include "wormcube/collectives/kit/hops.hpp"

#include <algorithm>
#include <unordered_map>

namespace wormcube {

namespace {

/// The links of all copies of one dimension's graph, with their messages, or blocks, added up.
class DimensionLoad {
 public:
  DimensionLoad(const Topology& topology, int dimension)
      : graph_(topology.factor(dimension)),
        // Of a line or ring: the links that leave each node going '+', then those going '-'.
        links_(graph_.has_direction() ? 2 * std::int64_t{graph_.nodes()} : graph_.links()) {
    const std::int64_t all = links_ * (topology.nodes() / graph_.nodes());
    if (graph_.has_direction() || all <= most_links_of_node * topology.nodes())
      load_.resize(static_cast<std::size_t>(all + 1));
  }

  void add(Rank line, Rank from, Rank to, double blocks) {
    if (!graph_.has_direction()) {
      for_each_link(line, from, to, [=](double& load) { load += blocks; });
      return;
    }
    // Differences: summed up by finish().
    const auto [first, last, whole] = run(from, to);
    double* const lane = lane_of(line, from, to);
    lane[first] += blocks;
    if (first + whole <= graph_.nodes()) {
      lane[last] -= blocks;  // of the next lane, or past the end, where it belongs to no sum
    } else {
      lane[graph_.nodes()] -= blocks;
      lane[0] += blocks, lane[last] -= blocks;
    }
  }

  void finish() {
    if (!graph_.has_direction()) return;
    double sum = 0;
    for (double& load : load_) load = sum += load;
  }

  double most() const {
    double most = load_.empty() ? 0 : *std::ranges::max_element(load_);
    for (const auto& [link, load] : used_) most = std::max(most, load);
    return most;
  }

 private:
  struct Run {
    Rank first, last;  // links that leave these nodes, `last` excluded
    Rank whole;
  };
  /// The nodes that a message leaves, as a run of ascending numbers that may exceed the last one.
  Run run(Rank from, Rank to) const {
    const Rank n = graph_.nodes(), hops = graph_.hops(from, to);
    const Rank whole = std::abs(hops), first = hops > 0 ? from : (from - whole + 1 + n) % n;
    const Rank past = first + whole;
    return {first, past > n ? past - n : past, whole};
  }
  double* lane_of(Rank line, Rank from, Rank to) {
    return &load_[static_cast<std::size_t>(line * links_ +
                                           (graph_.hops(from, to) > 0 ? 0 : graph_.nodes()))];
  }

  template <class F>
  void for_each_link(Rank line, Rank from, Rank to, F f) {
    bool up = true;
    for (Rank at = from; at != to;) {
      const std::int64_t link = graph_.next(at, to, up), of_all = line * links_ + link;
      f(load_.empty() ? used_[of_all] : load_[static_cast<std::size_t>(of_all)]);
      at = graph_.ends(link).to;
    }
  }

  static constexpr std::int64_t most_links_of_node = 64;

  const Graph& graph_;
  std::int64_t links_;
  std::vector<double> load_;  // of lines and rings with differences; empty for dense graphs
  std::unordered_map<std::int64_t, double>
      used_;  // of dense graphs: they have more links than memory
};

/// Calls f(dimension, line, from, to) for each dimension that a message crosses, in its order.
template <class F>
void for_each_dimension(const Topology& topology, const PatternMessage& message, F f) {
  Rank at = message.from;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Rank from = topology.coordinate(at, d), to = topology.coordinate(message.to, d);
    if (from == to) continue;
    f(d, topology.line(at, d), from, to);
    at = topology.with(at, d, to);
  }
}

}  // namespace

std::optional<PatternLoad> pattern_load(const Topology& topology,
                                        std::span<const PatternMessage> messages) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (!topology.factor(d).routable()) return std::nullopt;
  }
  const auto busiest = [&](auto amount) {
    std::vector<DimensionLoad> dimensions;
    for (int d = 0; d < topology.dimensions(); ++d) dimensions.emplace_back(topology, d);
    for (const PatternMessage& message : messages) {
      for_each_dimension(topology, message, [&](int d, Rank line, Rank from, Rank to) {
        dimensions[static_cast<std::size_t>(d)].add(line, from, to, amount(message));
      });
    }
    double most = 0;
    for (DimensionLoad& dimension : dimensions) {
      dimension.finish();
      most = std::max(most, dimension.most());
    }
    return most;
  };
  PatternLoad result;
  result.link_load = static_cast<int>(busiest([](const PatternMessage&) { return 1.0; }));
  for (const PatternMessage& message : messages) {
    result.hops = std::max<double>(result.hops, route_hops(topology, message.from, message.to));
  }
  if (messages.empty()) return result;
  const bool alike = std::ranges::all_of(messages, [&](const PatternMessage& message) {
    return message.blocks == messages.front().blocks;
  });
  result.link_blocks = alike
                           ? messages.front().blocks * result.link_load
                           : busiest([](const PatternMessage& message) { return message.blocks; });
  return result;
}

void PatternSteps::add(std::span<const PatternMessage> messages) {
  if (!known_) return;
  const auto step = pattern_load(topology_, messages);
  known_ = step.has_value();
  if (!known_) return;
  sum_.link_load = std::max(sum_.link_load, step->link_load);
  sum_.link_blocks += step->link_blocks;
  sum_.hops += step->hops;
}

Prediction PatternSteps::with_loads(Prediction prediction) const {
  if (!known_) return prediction;
  prediction.link_load = sum_.link_load;
  prediction.link_blocks = sum_.link_blocks;
  prediction.hops = sum_.hops;
  return prediction;
}

}  // namespace wormcube
