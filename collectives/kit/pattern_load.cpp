// Load of a step's messages: difference sums along lines and rings, link by link elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/pattern_load.hpp"

#include "wormcube/collectives/kit/hops.hpp"

#include <algorithm>
#include <unordered_map>

namespace wormcube {

/// The links of all copies of one dimension's graph, with their messages, or blocks, added up. Only
/// lanes that messages use are looked at.
class PatternLoads::DimensionLoad {
 public:
  DimensionLoad(const Topology& topology, int dimension)
      : graph_(topology.factor(dimension)),
        lanes_(static_cast<std::size_t>(topology.nodes() / graph_.nodes())) {
    if (graph_.has_direction()) {
      lanes_ *= 2, lane_size_ = static_cast<std::size_t>(graph_.nodes());
    } else if (graph_.links() <= std::int64_t{most_links_of_node} * graph_.nodes()) {
      lane_size_ = static_cast<std::size_t>(graph_.links());
    }
  }

  void clear() {
    for (const std::size_t lane : used_) {
      std::fill_n(load_.begin() + static_cast<std::ptrdiff_t>(lane * lane_size_), lane_size_, 0.0);
      is_used_[lane] = false;
    }
    used_.clear();
    used_links_.clear();
    most_ = 0;
  }

  void add(Rank line, Rank from, Rank to, double blocks) {
    if (!graph_.has_direction()) return add_links(line, from, to, blocks);
    // Differences: summed up by most().
    const Rank n = graph_.nodes(), hops = graph_.hops(from, to), whole = std::abs(hops);
    double* const lane = use(2 * static_cast<std::size_t>(line) + (hops > 0 ? 0 : 1));
    // The nodes that the message leaves, as a run of ascending numbers that may exceed the last.
    const Rank first = hops > 0 ? from : (from - whole + 1 + n) % n, past = first + whole;
    lane[first] += blocks;
    if (past > n) lane[0] += blocks;
    if (past != n) lane[past > n ? past - n : past] -= blocks;
  }

  double most() const {
    if (!graph_.has_direction()) return most_;
    double most = 0;
    for (const std::size_t lane : used_) {
      double sum = 0;
      for (std::size_t i = 0; i < lane_size_; ++i) {
        most = std::max(most, sum += load_[lane * lane_size_ + i]);
      }
    }
    return most;
  }

 private:
  double* use(std::size_t lane) {
    if (load_.empty()) {
      load_.resize(lanes_ * lane_size_);
      is_used_.resize(lanes_);
    }
    if (!is_used_[lane]) {
      is_used_[lane] = true;
      used_.push_back(lane);
    }
    return &load_[lane * lane_size_];
  }

  void add_links(Rank line, Rank from, Rank to, double blocks) {
    double* const lane = lane_size_ > 0 ? use(static_cast<std::size_t>(line)) : nullptr;
    bool up = true;
    for (Rank at = from; at != to;) {
      const std::int64_t link = graph_.next(at, to, up);
      double& load = lane != nullptr ? lane[link] : used_links_[line * graph_.links() + link];
      most_ = std::max(most_, load += blocks);
      at = graph_.ends(link).to;
    }
  }

  static constexpr int most_links_of_node = 64;

  const Graph& graph_;
  // Of a line or ring, two lanes in each copy: the links that leave each node going '+', then those
  // going '-'. Else one: all links.
  std::size_t lanes_, lane_size_ = 0;
  std::vector<double> load_;  // of lines and rings: differences
  std::vector<bool> is_used_;
  std::vector<std::size_t> used_;
  std::unordered_map<std::int64_t, double>
      used_links_;   // of dense graphs: they have more links than memory
  double most_ = 0;  // not of lines and rings
};

namespace {

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

PatternLoads::PatternLoads(const Topology& topology) : topology_(topology), routable_(true) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    routable_ = routable_ && topology.factor(d).routable();
  }
  for (int d = 0; routable_ && d < topology.dimensions(); ++d)
    dimensions_.emplace_back(topology, d);
}

PatternLoads::~PatternLoads() = default;

template <class Amount>
double PatternLoads::busiest(std::span<const PatternMessage> messages, Amount amount) {
  for (DimensionLoad& dimension : dimensions_) dimension.clear();
  for (const PatternMessage& message : messages) {
    for_each_dimension(topology_, message, [&](int d, Rank line, Rank from, Rank to) {
      dimensions_[static_cast<std::size_t>(d)].add(line, from, to, amount(message));
    });
  }
  double most = 0;
  for (const DimensionLoad& dimension : dimensions_) most = std::max(most, dimension.most());
  return most;
}

std::optional<PatternLoad> PatternLoads::operator()(std::span<const PatternMessage> messages) {
  if (!routable_) return std::nullopt;
  PatternLoad result;
  result.link_load = static_cast<int>(busiest(messages, [](const PatternMessage&) { return 1.0; }));
  for (const PatternMessage& message : messages) {
    result.hops = std::max<double>(result.hops, route_hops(topology_, message.from, message.to));
  }
  if (messages.empty()) return result;
  const bool alike = std::ranges::all_of(messages, [&](const PatternMessage& message) {
    return message.blocks == messages.front().blocks;
  });
  result.link_blocks =
      alike ? messages.front().blocks * result.link_load
            : busiest(messages, [](const PatternMessage& message) { return message.blocks; });
  return result;
}

std::optional<PatternLoad> pattern_load(const Topology& topology,
                                        std::span<const PatternMessage> messages) {
  return PatternLoads(topology)(messages);
}

void PatternSteps::add(std::span<const PatternMessage> messages) {
  if (!known_) return;
  const auto step = loads_(messages);
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
