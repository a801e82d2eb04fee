// The rule of ring-all-port algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/ring_all_port.hpp"

#include <algorithm>

namespace wormcube {

namespace {

/// What is for s hops up or down leaves in the s-th step from the end.
RingRule neighbour_rule(Rank n, int shares) {
  RingRule rule{n / 2 + 1, {}};
  for (int share = 0; share < shares; ++share) {
    auto& turns = rule.turns.emplace_back(static_cast<std::size_t>(n));
    for (Rank x = 1; x < n; ++x) {
      const bool tie = 2 * x == n, cable = n == 2;
      const bool up = tie ? share == 1 || cable : 2 * x < n;
      turns[static_cast<std::size_t>(x)] = {up ? x : n - x, up ? +1 : -1};
    }
  }
  return rule;
}

}  // namespace

Option half_way_option() {
  return {.name = "half",
          .choices = {"plus", "split"},
          .help = "a block for half way round an even ring: one way, or one half each way"};
}

std::vector<TorusCopy> ring_all_port_copies(const Topology& topology, HalfWay half) {
  const std::vector<int> wide = wide_dimensions(topology);
  const auto sizes = topology.sizes();
  const Rank steps = sizes.empty() ? 0 : *std::ranges::max_element(sizes) / 2;
  std::vector<TorusCopy> copies;
  for (std::size_t j = 0; j < std::max<std::size_t>(1, wide.size()); ++j) {
    TorusCopy& copy = copies.emplace_back();
    copy.shares = half == HalfWay::split ? 2 : 1;
    for (const Rank n : sizes) copy.rules.push_back(neighbour_rule(n, copy.shares));
    for (std::size_t t = wide.size(); t-- > 0;) {
      const int d = wide[(j + t) % wide.size()];
      for (Rank s = steps; s > 0; --s) {
        copy.slots.push_back(s <= topology.size(d) / 2 ? TorusCopy::Slot{d, s} : TorusCopy::Slot{});
      }
    }
  }
  return copies;
}

std::span<const HandoverPlan> ring_all_port_plans(Node& node, HalfWay half) {
  return node.plan<std::vector<HandoverPlan>>(
      "ring-all-port", {static_cast<std::int64_t>(half)}, [&] {
        return torus_plans(node.topology(), ring_all_port_copies(node.topology(), half),
                           node.rank());
      });
}

Prediction ring_all_port_cost(const Topology& topology, HalfWay half) {
  return torus_handover_cost(topology, ring_all_port_copies(topology, half));
}

Rank ring_all_port_parts(const Topology& topology, HalfWay half) {
  const auto wide = static_cast<Rank>(wide_dimensions(topology).size());
  return std::max(1, wide) * (half == HalfWay::split ? 2 : 1);
}

}  // namespace wormcube
