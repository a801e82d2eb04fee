// All-gathers along one dimension, and on products.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/line_gather.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace wormcube {

namespace {

std::vector<double> single_bundles(int count) {
  return std::vector<double>(static_cast<std::size_t>(count), 1);
}

/// One bundle in the first step, then pairs.
std::vector<double> paired_bundles(int count) {
  std::vector<double> bundles(static_cast<std::size_t>(std::max(0, count)), 2);
  if (count > 0) bundles[0] = 1;
  return bundles;
}

}  // namespace

LineGather gather_round(Rank n) {
  const int steps = n - 1;
  return {steps,
          1,
          [n](Rank x, Rank z, int) {
            return LineGather::Arrival{mod(x - z, n) - 1, 0};
          },
          [n](Rank x, int, int) {
            return LineGather::Neighbours{mod(x + 1, n), mod(x - 1, n)};
          },
          single_bundles(steps),
          single_bundles(steps)};
}

LineGather gather_in_pairs_round(const Graph& graph) {
  const Rank n = graph.nodes();
  if (!graph.wraps() || n % 2 == 1) return gather_round(n);
  return {n / 2, 1,
          // An even x sees z = x + 1 first, then the pairs x + 2, x - 4, ..; an odd x mirrored.
          [n](Rank x, Rank z, int) {
            const Rank ahead = mod(x % 2 == 0 ? z - x : x - z, n), pair = ahead - ahead % 2;
            return LineGather::Arrival{pair < n / 2 ? pair : n - 1 - pair, 0};
          },
          [n](Rank x, int step, int) {
            const Rank partner = mod((x + step) % 2 == 0 ? x + 1 : x - 1, n);
            return LineGather::Neighbours{partner, partner};
          },
          paired_bundles(n / 2), paired_bundles(n / 2)};
}

LineGather gather_in_pairs(Rank n) {
  const int steps = n == 1 ? 0 : n - 1 + n % 2;
  std::vector<double> bundles = paired_bundles(steps);
  if (steps > 1 && n % 2 == 1) bundles.back() = 1;
  return {steps,
          1,
          [](Rank x, Rank z, int) {
            const int between = z < x ? x - 1 - z : z - x - 1;
            const bool waits = (z % 2 == 1) == (z < x);
            return LineGather::Arrival{between + (waits ? 1 : 0), 0};
          },
          [n](Rank x, int step, int) {
            const Rank partner = (x + step) % 2 == 0 ? x + 1 : x - 1;
            const Rank there = partner < n ? partner : -1;
            return LineGather::Neighbours{there, there};
          },
          bundles,
          bundles};
}

namespace {

LineGather gather_complete(Rank n) {
  return {n > 1 ? 1 : 0,
          n - 1,
          [n](Rank x, Rank z, int) {
            return LineGather::Arrival{0, mod(x - z, n) - 1};
          },
          [n](Rank x, int, int lane) {
            return LineGather::Neighbours{mod(x + lane + 1, n), mod(x - lane - 1, n)};
          },
          single_bundles(n > 1 ? 1 : 0),
          std::vector<double>(n > 1 ? 1 : 0, n - 1)};
}

constexpr int lane_up = 0, lane_down = 1;  // lanes: to the next coordinate, to the one before

LineGather gather_line(Rank n) {
  const int steps = n - 1;
  std::vector<double> of_node = single_bundles(steps);
  for (int s = 1; n > 2 && 2 * s <= n + 1; ++s) of_node[static_cast<std::size_t>(s - 1)] = 2;
  return {steps,
          2,
          [](Rank x, Rank z, int) {
            return z < x ? LineGather::Arrival{x - z - 1, lane_up}
                         : LineGather::Arrival{z - x - 1, lane_down};
          },
          [n](Rank x, int, int lane) {
            const Rank above = x + 1 < n ? x + 1 : -1, below = x - 1;
            return lane == lane_up ? LineGather::Neighbours{above, below}
                                   : LineGather::Neighbours{below, above};
          },
          single_bundles(steps),
          of_node};
}

/// The half-way node's bundle goes up; if it is split, one share each way.
LineGather gather_ring(Rank n, HalfWay half) {
  const int steps = n / 2;
  std::vector<double> in_message = single_bundles(steps), of_node(in_message.size(), 2);
  if (n % 2 == 0) {
    of_node.back() = 1;
    if (half == HalfWay::split && n > 2) in_message.back() = 0.5;
  }
  return {steps,
          2,
          [n](Rank x, Rank z, int share) {
            const Rank hops = mod(x - z, n);  // up
            const bool goes_up = 2 * hops < n || (2 * hops == n && (share == 0 || n == 2));
            return goes_up ? LineGather::Arrival{hops - 1, lane_up}
                           : LineGather::Arrival{n - hops - 1, lane_down};
          },
          [n](Rank x, int, int lane) {
            const Rank above = mod(x + 1, n), below = mod(x - 1, n);
            return lane == lane_up ? LineGather::Neighbours{above, below}
                                   : LineGather::Neighbours{below, above};
          },
          in_message,
          of_node};
}

}  // namespace

LineGather gather_all_ways(const Graph& graph, HalfWay half) {
  const Rank n = graph.nodes();
  if (graph.shape() == Shape::complete) return gather_complete(n);
  return graph.wraps() ? gather_ring(n, half) : gather_line(n);
}

std::vector<int> in_order(const Topology& topology) {
  std::vector<int> order(static_cast<std::size_t>(topology.dimensions()));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

GatherCopy gather_by_dimension(std::vector<LineGather> rules, std::span<const int> order) {
  GatherCopy copy{std::move(rules)};
  for (const int d : order) {
    for (int s = 0; s < copy.rules[static_cast<std::size_t>(d)].steps; ++s) {
      copy.slots.push_back({d, s});
    }
  }
  return copy;
}

std::vector<GatherCopy> lines_round(const Topology& topology) {
  std::vector<LineGather> rules;
  for (const Rank n : topology.sizes()) rules.push_back(gather_round(n));
  return {gather_by_dimension(std::move(rules), in_order(topology))};
}

namespace {

/// A copy in the form in which nodes look it up.
class GatherTurns {
 public:
  GatherTurns(Topology topology, GatherCopy copy)
      : topology_(std::move(topology)), copy_(std::move(copy)) {
    for (const LineGather& rule : copy_.rules) {
      slots_.emplace_back(static_cast<std::size_t>(rule.steps));
      lanes_ = std::max(lanes_, rule.lanes);
    }
    for (std::size_t i = 0; i < copy_.slots.size(); ++i) {
      const auto [d, step] = copy_.slots[i];
      if (d >= 0) {
        slots_[static_cast<std::size_t>(d)][static_cast<std::size_t>(step)] = static_cast<int>(i);
      }
    }
  }
  int most_lanes() const { return lanes_; }

  /// A block arrives last in the dimension whose slots come last: there its partial result leaves
  /// first.
  void turns(Rank r, std::span<Handovers::Turn> all) const {
    std::vector<std::vector<Handovers::Turn>> of_coordinates;
    for (int d = 0; d < topology_.dimensions(); ++d) {
      const Rank x = topology_.coordinate(r, d);
      auto& row = of_coordinates.emplace_back();
      for (Rank z = 0; z < topology_.size(d); ++z) {
        for (int share = 0; share < copy_.shares; ++share) {
          row.push_back(z == x ? Handovers::Turn{-1, 0} : turn(d, rule(d).arrival(x, z, share)));
        }
      }
    }
    earliest_turns(of_coordinates, copy_.shares, all);
  }
  std::vector<Lane> lanes(Rank r, int step) const {
    const auto [d, at] = copy_.slots[static_cast<std::size_t>(backwards(step))];
    std::vector<Lane> lanes;
    for (int lane = 0; d >= 0 && lane < rule(d).lanes; ++lane) {
      const auto [to, from] = rule(d).neighbours(topology_.coordinate(r, d), at, lane);
      const auto peer = [&, dimension = d](Rank x) {
        return Peer{x < 0 ? -1 : topology_.with(r, dimension, x)};
      };
      lanes.push_back({peer(from), peer(to)});
    }
    return lanes;
  }

 private:
  const LineGather& rule(int d) const { return copy_.rules[static_cast<std::size_t>(d)]; }
  Handovers::Turn turn(int d, const LineGather::Arrival& arrival) const {
    const auto& slots = slots_[static_cast<std::size_t>(d)];
    return {backwards(slots[static_cast<std::size_t>(arrival.step)]), arrival.lane};
  }
  int backwards(int slot) const { return static_cast<int>(copy_.slots.size()) - 1 - slot; }

  Topology topology_;
  GatherCopy copy_;
  std::vector<std::vector<int>> slots_;  // by dimension and step of its rule
  int lanes_ = 1;
};

}  // namespace

Handovers gather_handovers(const Topology& topology, const GatherCopy& copy) {
  const auto turns = std::make_shared<const GatherTurns>(topology, copy);
  return {static_cast<int>(copy.slots.size()), copy.shares,
          [turns](Rank r, int step) { return turns->lanes(r, step); },
          [turns](Rank r, std::span<Handovers::Turn> all) { turns->turns(r, all); },
          turns->most_lanes()};
}

std::vector<HandoverPlan> gather_plans(const Topology& topology, std::span<const GatherCopy> copies,
                                       Rank r) {
  std::vector<HandoverPlan> plans;
  for (const GatherCopy& copy : copies) {
    plans.emplace_back(gather_handovers(topology, copy), topology.nodes(), r);
  }
  return plans;
}

Prediction gather_cost(const Topology& topology, std::span<const GatherCopy> copies) {
  struct Step {
    double largest = 0, combined = 0;
  };
  std::vector<Step> steps;
  for (const GatherCopy& copy : copies) {
    steps.resize(std::max(steps.size(), copy.slots.size()));
    double bundle = 1.0 / static_cast<double>(copies.size());  // of the dimensions before
    int dimension = -1;
    for (std::size_t i = 0; i < copy.slots.size(); ++i) {
      const auto [d, step] = copy.slots[i];
      if (d < 0) continue;
      if (dimension >= 0 && d != dimension) bundle *= topology.size(dimension);
      dimension = d;
      const LineGather& rule = copy.rules[static_cast<std::size_t>(d)];
      const auto at = static_cast<std::size_t>(step);
      steps[i].largest = std::max(steps[i].largest, bundle * rule.in_message[at]);
      steps[i].combined += bundle * rule.of_node[at];
    }
  }
  Prediction prediction{0, 0, 0};
  prediction.combined_blocks = 0;
  for (const Step& step : steps) {
    *prediction.startups += step.largest > 0 ? 1 : 0;
    *prediction.transmission_blocks += step.largest;
    *prediction.combined_blocks += step.combined;
  }
  prediction.link_load = steps.empty() ? 0 : 1;
  prediction.link_blocks = prediction.transmission_blocks;
  return prediction;
}

}  // namespace wormcube
