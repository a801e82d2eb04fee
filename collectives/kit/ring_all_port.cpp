// The rule of ring-all-port algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/ring_all_port.hpp"

#include "wormcube/collectives/kit/handover_algorithms.hpp"

#include <algorithm>

namespace wormcube {

namespace {

/// Data for s hops up or down leaves in the s-th step from the end.
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
          .help =
              "block for the node half way round an even ring: whole in one direction, or half in "
              "each"};
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

namespace {

/// All-gather, reduce-scatter and all-reduce in both directions of every ring at once, to
/// neighbours. Data for the farthest nodes leaves first; one dimension after another. D rotated
/// copies of a D-th part of each block use links of different dimensions in every step. Between two
/// nodes half a ring apart the '+' direction carries the block, or, if it is split, each direction
/// one half.
///
/// Network  ring or torus of any sides n_d, including hypercubes; all-port. The operator must
///          commute.
/// Cost     D max(floor(n_d / 2)) steps; of one size n, (p - 1)/(2 D) blocks if n is odd or blocks
///          are split, which is the bound. Unequal sides: each step lasts as long as its largest.
///          All-reduce: twice, of vectors of p blocks.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.7.2. Split: N. Jain, Y. Sabharwal, Optimal bucket
///          algorithms for large MPI collectives on torus interconnects, ICS 2010 (abstract).
struct RingAllPort {
  static std::span<const HandoverPlan> plans(Node& node, const Options& options) {
    return ring_all_port_plans(node, half_of(options));
  }
  static Prediction cost(const Setting& setting) {
    return ring_all_port_cost(setting.topology, half_of(setting.options));
  }
  static Rank parts(const Setting& setting) {
    return ring_all_port_parts(setting.topology, half_of(setting.options));
  }
};
/// The same on hypercubes, whose rings of 2 have no half-way node.
struct HypercubeAllPort {
  static std::span<const HandoverPlan> plans(Node& node, const Options& /*options*/) {
    return ring_all_port_plans(node, HalfWay::plus);
  }
  static Prediction cost(const Setting& setting) {
    return ring_all_port_cost(setting.topology, HalfWay::plus);
  }
  static Rank parts(const Setting& setting) {
    return ring_all_port_parts(setting.topology, HalfWay::plus);
  }
};

Algorithm ring_all_port(std::string_view summary, std::string_view source,
                        std::vector<std::string_view> instead) {
  return {
      .operation = operations::allgather,
      .name = "ring-all-port",
      .summary = summary,
      .source = source,
      .ports = Ports::all,
      .contention_free = true,
      .exactly_once = true,
      .neighbours_only = true,
      .options = {half_way_option()},
      .needs = {needs::rings()},
      .instead = std::move(instead),
  };
}
constexpr std::string_view reduces_by_ring_all_port =
    "both directions of every ring, to neighbours, rotated copies on all links; rings and tori";
constexpr std::string_view backwards =
    "Jain, Sabharwal, ICS 2010 (abstract); the all-gather of Grama, Gupta, Karypis, Kumar, "
    "sec. 4.7.2, backwards";

}  // namespace

WORMCUBE_ALGORITHMS(ring_all_port){
    allgather_by<RingAllPort>(ring_all_port(
        "rotated copies, both directions of each ring, on all links at once; rings and tori",
        "Grama, Gupta, Karypis, Kumar, sec. 4.7.2; split: Jain, Sabharwal, ICS 2010 (abstract)",
        {"mesh", "bruck"})),
    allgather_by<HypercubeAllPort>({
        .operation = operations::allgather,
        .name = "hypercube-all-port",
        .summary = "d rotated copies of recursive doubling on all links at once; hypercubes",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3 and 4.7.2",
        .ports = Ports::all,
        .contention_free = true,
        .exactly_once = true,
        .neighbours_only = true,
        .needs = {needs::hypercube()},
        .instead = {"ring-all-port", "bruck"},
    }),
    reduce_scatter_by<RingAllPort>(ring_all_port(reduces_by_ring_all_port, backwards,
                                                 {"bruck", "mesh"})),
    allreduce_by<RingAllPort>(ring_all_port(reduces_by_ring_all_port, backwards,
                                            {"reduce-scatter-allgather"})),
};

}  // namespace wormcube
