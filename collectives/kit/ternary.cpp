// The ternary rule of reduce-scatters.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/ternary.hpp"

#include "wormcube/collectives/kit/handover_algorithms.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace wormcube {

int log3_ceiling(Rank n) {
  int steps = 0;
  for (std::int64_t reach = 1; reach < n; reach *= 3) ++steps;
  return steps;
}

RingRule ternary_rule(Rank n, bool one_port) {
  const int steps = log3_ceiling(n);
  RingRule rule{one_port ? 2 * steps : steps,
                {std::vector<RingRule::Turn>(static_cast<std::size_t>(n))}};
  if (steps == 0) return rule;
  std::vector<Rank> hops{1};
  for (int k = 1; k < steps; ++k) hops.push_back(3 * hops.back());
  hops.back() = (n - hops.back() + 1) / 2;

  // By displacement: the highest step that a sum can begin with, and with which signs.
  struct Begin {
    int step = -1;
    bool up = false, down = false;
  };
  std::vector<Begin> begins(static_cast<std::size_t>(n));
  const auto note = [&](Rank x, int step, int sign) {
    Begin& begin = begins[static_cast<std::size_t>(mod(x, n))];
    if (step < begin.step) return;
    if (step > begin.step) begin = {step};
    (sign > 0 ? begin.up : begin.down) = true;
  };
  std::vector<Rank> sums{0};  // of the hops above step k
  for (int k = steps - 1; k >= 0; --k) {
    std::vector<Rank> longer = sums;
    for (const int sign : {+1, -1}) {
      for (const Rank sum : sums) {
        longer.push_back(mod(sum + sign * hops[static_cast<std::size_t>(k)], n));
        note(longer.back(), k, sign);
      }
    }
    std::ranges::sort(longer);
    longer.erase(std::unique(longer.begin(), longer.end()), longer.end());
    sums = std::move(longer);
  }

  std::vector<std::array<int, 2>> used(static_cast<std::size_t>(steps));
  for (Rank x = 1; x < n; ++x) {
    const auto& [step, up, down] = begins[static_cast<std::size_t>(x)];
    auto& [ups, downs] = used[static_cast<std::size_t>(step)];
    const bool goes_up = up && (!down || ups <= downs);
    ++(goes_up ? ups : downs);
    const Rank far = hops[static_cast<std::size_t>(step)];
    rule.turns[0][static_cast<std::size_t>(x)] = {one_port ? 2 * step + (goes_up ? 0 : 1) : step,
                                                  goes_up ? far : -far};
  }
  return rule;
}

std::vector<TorusCopy> ternary_copies(const Topology& topology, Ports ports) {
  const bool one_port = ports == Ports::one;
  std::vector<TorusCopy> copies;
  for (Rank first = 0; first < ternary_parts(topology, ports); ++first) {
    TorusCopy& copy = copies.emplace_back();
    for (const Rank n : topology.sizes()) copy.rules.push_back(ternary_rule(n, one_port));
    copy.slots = slots_by_step(topology, first, !one_port, [&](Rank n) {
      return one_port ? 2 * log3_ceiling(n) : log3_ceiling(n);
    });
  }
  return copies;
}

Rank ternary_parts(const Topology& topology, Ports ports) {
  const auto wide = static_cast<Rank>(wide_dimensions(topology).size());
  return ports == Ports::one ? 1 : std::max(1, wide);
}

namespace {

/// For one ring of 3^K nodes: to both nodes 1, 3, 9, .. hops away at once; each step triples the
/// number of nodes combined.
WholeVectors ternary_whole_vectors(const Topology& topology) {
  WholeVectors plan;
  int hops = 1;
  for (const int d : wide_dimensions(topology)) {
    for (; hops < topology.size(d); hops *= 3) {
      plan.steps.push_back({{d, hops, 1}, {d, -hops, 1}});
      plan.part_of.push_back({0, 0});
    }
  }
  return plan;
}

void require_ternary_whole_vectors(const Topology& topology) {
  const auto refuse = [](const std::string& why) {
    throw UsageError("ternary: form=latency " + why + "; use form=parts");
  };
  const std::vector<int> wide = wide_dimensions(topology);
  if (wide.size() > 1) {
    refuse(fmt::format("needs one ring; {} has {} dimensions", topology.name(), wide.size()));
  }
  Rank power = 1;
  while (power < topology.nodes()) power *= 3;
  if (power == topology.nodes()) return;
  refuse(fmt::format("needs a ring of 3^K nodes; {} has {}", topology.name(), topology.nodes()));
}

/// All-gather, reduce-scatter and all-reduce in ternary steps. In step k of a ring a node sends 3^k
/// hops up and down at once; the last of L = ceil(log3 n) steps reaches as far as is left. With all
/// ports D copies of a D-th part of each block begin with different dimensions; with one port each
/// step is two. All-reduce is both, one after the other, of vectors of p blocks, with the same bits
/// on all nodes. form=latency, all ports, one ring of 3^K nodes: K steps of whole vectors in both
/// directions, (n - 1)/2 of them in time.
///
/// Network  ring or torus of any sides; all- or one-port. The operator must commute.
/// Cost     All ports, sides 3^L: D L steps, (p - 1)/(2 D) blocks.
/// Links    3^k messages share a link: K n/3 blocks of time on a ring of 3^K.
/// Source   J. Juerss, V. Addanki, S. Schmid, Trivance, arXiv 2602.17254 (abstract, and the
///          simulation program for hops and repeated blocks); J. Juerss, S. Schmid, ReTri, arXiv
///          2605.26930 (abstract). The order of dimensions is ours.
template <Ports ports>
struct Ternary {
  static constexpr std::string_view whole_name = "ternary whole";
  static std::span<const HandoverPlan> plans(Node& node, const Options& /*options*/) {
    return node.plan<std::vector<HandoverPlan>>("ternary", {static_cast<std::int64_t>(ports)}, [&] {
      return torus_plans(node.topology(), ternary_copies(node.topology(), ports), node.rank());
    });
  }
  static bool brackets_differ(const Topology& topology) { return topology.nodes() > 1; }
  static Prediction cost(const Setting& setting) {
    return torus_handover_cost(setting.topology, ternary_copies(setting.topology, ports));
  }
  static Rank parts(const Setting& setting) { return ternary_parts(setting.topology, ports); }
  static constexpr auto whole = ternary_whole_vectors;
  static constexpr auto require_whole = require_ternary_whole_vectors;
};

Algorithm ternary(Ports ports, std::vector<std::string_view> instead) {
  const bool one = ports == Ports::one;
  return {
      .operation = operations::allgather,
      .name = one ? "ternary-one-port" : "ternary",
      .summary = one ? "the steps of ternary, one direction after the other; rings and tori"
                     : "hops of 1, 3, 9, .. in both directions at once, with the fewest start-ups "
                       "for two ports; rings and tori",
      .source =
          "Juerss, Addanki, Schmid, Trivance, arXiv 2602.17254 (abstract, program); Juerss, "
          "Schmid, ReTri, arXiv 2605.26930 (abstract)",
      .ports = ports,
      .exactly_once = true,
      .remark = "the order of dimensions is ours",
      .needs = {needs::rings()},
      .instead = std::move(instead),
  };
}

}  // namespace

WORMCUBE_ALGORITHMS(ternary){
    allgather_by<Ternary<Ports::all>>(ternary(Ports::all, {"bruck", "mesh"})),
    allgather_by<Ternary<Ports::one>>(ternary(Ports::one, {"bruck"})),
    reduce_scatter_by<Ternary<Ports::all>>(ternary(Ports::all, {"bruck", "mesh"})),
    reduce_scatter_by<Ternary<Ports::one>>(ternary(Ports::one, {"bruck"})),
    allreduce_in_both_forms<Ternary<Ports::all>>(ternary(Ports::all, {"reduce-scatter-allgather"})),
    allreduce_by<Ternary<Ports::one>>(ternary(Ports::one, {"reduce-scatter-allgather"})),
};

}  // namespace wormcube
