// Swing's steps, and what goes in each.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/swing.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"

#include <cstdlib>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// The same node by the shorter way.
int shortest(int hops, Rank n) {
  const int turned = hops % n;
  if (2 * std::abs(turned) <= n) return turned;
  return turned > 0 ? turned - n : turned + n;
}

}  // namespace

int swing_hops(int step) {
  int power = 1;  // (-2)^(step + 1)
  for (int s = 0; s <= step; ++s) power *= -2;
  return (1 - power) / 3;
}

RingRule swing_rule(Rank n, bool mirrored) {
  RingRule rule{log2_ceiling(n), {std::vector<RingRule::Turn>(static_cast<std::size_t>(n))}, true};
  std::vector<bool> known(static_cast<std::size_t>(n), false);
  std::vector<Rank> reached{
      0};  // by later steps, seen from a node of the other parity with signs changed
  for (int s = rule.steps - 1; s >= 0; --s) {
    const int hops = swing_hops(s);
    const std::size_t before = reached.size();
    for (std::size_t i = 0; i < before; ++i) {
      const Rank x = mod(hops - reached[i], n);
      if (x == 0 || known[static_cast<std::size_t>(x)]) continue;
      known[static_cast<std::size_t>(x)] = true;
      reached.push_back(x);
      rule.turns[0][static_cast<std::size_t>(mirrored ? n - x : x)] = {
          s, shortest(mirrored ? -hops : hops, n)};
    }
  }
  return rule;
}

std::vector<TorusCopy> swing_copies(const Topology& topology, Ports ports) {
  const auto wide = static_cast<int>(wide_dimensions(topology).size());
  std::vector<TorusCopy> copies;
  const auto add = [&](int first, bool mirrored) {
    TorusCopy& copy = copies.emplace_back();
    for (const Rank n : topology.sizes()) copy.rules.push_back(swing_rule(n, mirrored));
    copy.slots = slots_by_step(topology, first, ports == Ports::all, log2_ceiling);
  };
  if (ports == Ports::one || wide == 0) {
    add(0, false);
    return copies;
  }
  for (int first = 0; first < wide; ++first) add(first, false), add(first, true);
  return copies;
}

std::span<const HandoverPlan> swing_plans(Node& node, Ports ports) {
  return node.plan<std::vector<HandoverPlan>>("swing", {static_cast<std::int64_t>(ports)}, [&] {
    return torus_plans(node.topology(), swing_copies(node.topology(), ports), node.rank());
  });
}

Prediction swing_cost(const Topology& topology, Ports ports) {
  return torus_handover_cost(topology, swing_copies(topology, ports));
}

Rank swing_parts(const Topology& topology, Ports ports) {
  const auto wide = static_cast<Rank>(wide_dimensions(topology).size());
  return ports == Ports::one || wide == 0 ? 1 : 2 * wide;
}

namespace needs {

Need swing_rings(Ports ports) {
  const Rank least = ports == Ports::one ? 2 : 4;
  return {fmt::format("every dimension must be a ring of an even number of nodes{}, or of 1",
                      ports == Ports::one ? "" : ", 4 or more"),
          [least](const Topology& topology) -> std::optional<std::string> {
            for (int d = 0; d < topology.dimensions(); ++d) {
              const Graph& graph = topology.factor(d);
              const Rank n = graph.nodes();
              if (n == 1 || (graph.is(Shape::ring) && n % 2 == 0 && n >= least)) continue;
              return fmt::format("{} has {}", topology.name(), graph.name());
            }
            return std::nullopt;
          }};
}

}  // namespace needs

}  // namespace wormcube
