// All-gather, reduce-scatter and all-reduce round edge-disjoint Hamiltonian cycles.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/handover_algorithms.hpp"
#include "wormcube/runtime/base/recently_made.hpp"
#include "wormcube/runtime/topology/ring_order.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// A directed cycle, and the position of each node on it.
struct Cycle {
  std::vector<Rank> nodes, positions;

  explicit Cycle(std::vector<Rank> order) : nodes(std::move(order)), positions(nodes.size()) {
    for (std::size_t x = 0; x < nodes.size(); ++x) {
      positions[static_cast<std::size_t>(nodes[x])] = static_cast<Rank>(x);
    }
  }
  Rank position(Rank r) const { return positions[static_cast<std::size_t>(r)]; }
  Rank node(Rank position) const {
    return nodes[static_cast<std::size_t>(mod(position, static_cast<Rank>(nodes.size())))];
  }
};

std::vector<Cycle> make_cycles(const Topology& topology) {
  if (topology.nodes() == 1) return {Cycle({0})};
  std::vector<Cycle> cycles;
  for (auto& order : disjoint_cycles(topology)) cycles.emplace_back(std::move(order));
  return cycles;
}

/// In step t the partial result for the node t positions back leaves for the next position.
Handovers round_cycle(const Cycle& cycle) {
  const auto p = static_cast<Rank>(cycle.nodes.size());
  return {p - 1, 1,
          [&cycle](Rank r, int /*step*/) {
            const Rank x = cycle.position(r);
            return std::vector<Lane>{{{cycle.node(x + 1)}, {cycle.node(x - 1)}}};
          },
          turns_by(p, 1, [&cycle, p](Rank r, Rank block, int /*share*/) {
            return Handovers::Turn{mod(cycle.position(r) - cycle.position(block), p) - 1, 0};
          })};
}

/// The cycles of a network: 2 on a ring, 4 on a torus.
Rank cycles_of(const Topology& topology) {
  if (topology.nodes() == 1) return 1;
  return wide_dimensions(topology).size() == 1 ? 2 : 4;
}

Need a_ring_or_two() {
  return {"needs a ring or a 2-D torus, with sides of 3 nodes or more",
          [](const Topology& topology) -> std::optional<std::string> {
            const std::vector<int> wide = wide_dimensions(topology);
            if (wide.size() > 2) {
              return fmt::format("{} has {} dimensions", topology.name(), wide.size());
            }
            for (const int d : wide) {
              if (topology.factor(d).wraps()) continue;
              return fmt::format("{} has {}", topology.name(), topology.factor(d).name());
            }
            return std::nullopt;
          }};
}

/// All-gather, reduce-scatter and all-reduce by rings, round all edge-disjoint directed Hamiltonian
/// cycles of a network at once: part i of h of every block goes round cycle i.
///
/// Network  ring, h = 2; torus of two dimensions, h = 4; sides of 3 or more; all-port. The operator
///          must commute.
/// Cost     p - 1 steps, (p - 1)/h blocks: the bound, whatever the sides. All-reduce: twice, of
///          vectors of p blocks.
/// Links    each carries one message in a step.
/// Source   ours. The cycles of a torus exist by A. Kotzig, Every Cartesian Product of Two Circuits
///          Is Decomposable into Two Hamiltonian Circuits, 1973.
struct MultiRing {
  static std::span<const HandoverPlan> plans(Node& node, const Options& /*options*/) {
    return node.plan<std::vector<HandoverPlan>>("multi-ring", {}, [&] {
      static RecentlyMade<Topology, std::vector<Cycle>> made;
      const auto cycles = made(node.topology(), [&] { return make_cycles(node.topology()); });
      std::vector<HandoverPlan> plans;
      for (const Cycle& cycle : *cycles) {
        plans.emplace_back(round_cycle(cycle), node.size(), node.rank());
      }
      return plans;
    });
  }
  static Prediction cost(const Setting& setting) {
    const double steps = setting.topology.nodes() - 1.0;
    const double blocks = steps / cycles_of(setting.topology);
    Prediction prediction{steps, blocks, 0};
    prediction.combined_blocks = steps;
    prediction.link_load = steps > 0 ? 1 : 0;
    prediction.link_blocks = blocks;
    return prediction;
  }
  static Rank parts(const Setting& setting) { return cycles_of(setting.topology); }
};

Algorithm multi_ring(std::vector<std::string_view> instead) {
  return {
      .operation = operations::allgather,
      .name = "multi-ring",
      .summary = "edge-disjoint Hamiltonian cycles, all used at once; rings and 2-D tori",
      .source = "ours; cycles: Kotzig, 1973",
      .ports = Ports::all,
      .contention_free = true,
      .exactly_once = true,
      .needs = {a_ring_or_two()},
      .instead = std::move(instead),
  };
}

}  // namespace

WORMCUBE_ALGORITHMS(multi_ring){
    allgather_by<MultiRing>(multi_ring({"all-port", "ring"})),
    reduce_scatter_by<MultiRing>(multi_ring({"all-port", "ring"})),
    allreduce_by<MultiRing>(multi_ring({"all-port", "ring"})),
};

}  // namespace wormcube
