// The ternary rule of reduce-scatters.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/ternary.hpp"

#include "wormcube/collectives/kit/handover_algorithms.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <array>

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

std::span<const HandoverPlan> ternary_plans(Node& node, Ports ports) {
  return node.plan<std::vector<HandoverPlan>>("ternary", {static_cast<std::int64_t>(ports)}, [&] {
    return torus_plans(node.topology(), ternary_copies(node.topology(), ports), node.rank());
  });
}

Prediction ternary_cost(const Topology& topology, Ports ports) {
  return torus_handover_cost(topology, ternary_copies(topology, ports));
}

Rank ternary_parts(const Topology& topology, Ports ports) {
  const auto wide = static_cast<Rank>(wide_dimensions(topology).size());
  return ports == Ports::one ? 1 : std::max(1, wide);
}

namespace {

/// All-gather and reduce-scatter in ternary steps. In step k of a ring a node hands on 3^k hops up
/// and down at once: of L = ceil(log3 n) steps the last one reaches as far as is left. With all
/// ports D copies of a D-th part of each block begin with different dimensions; with one port each
/// step is two.
///
/// Network  ring or torus of any sides; all- or one-port. The operator must commute.
/// Cost     All ports, sides 3^L: D L steps, (p - 1)/(2 D) blocks.
/// Links    3^k messages share a link: K n/3 blocks of time on a ring of 3^K.
/// Source   J. Juerss, V. Addanki, S. Schmid, Trivance, arXiv 2602.17254 (abstract, and the
///          simulation program for hops and repeated blocks); J. Juerss, S. Schmid, ReTri, arXiv
///          2605.26930 (abstract). The order of dimensions is ours.
template <Ports ports>
struct Ternary {
  static std::span<const HandoverPlan> plans(Node& node, const Options& /*options*/) {
    return ternary_plans(node, ports);
  }
  static Prediction cost(const Setting& setting) { return ternary_cost(setting.topology, ports); }
  static Rank parts(const Setting& setting) { return ternary_parts(setting.topology, ports); }
};

const Algorithm ternary_all_port{
    .operation = operations::allgather,
    .name = "ternary",
    .summary = "1, 3, 9, .. hops both ways at once: fewest start-ups of two ports; rings and tori",
    .source =
        "Juerss, Addanki, Schmid, Trivance, arXiv 2602.17254 (abstract, program); Juerss, Schmid, "
        "ReTri, arXiv 2605.26930 (abstract)",
    .ports = Ports::all,
    .exactly_once = true,
    .remark = "the order of dimensions ours",
    .needs = {needs::rings()},
    .instead = {"bruck", "mesh"},
};
const Algorithm ternary_one_port{
    .operation = operations::allgather,
    .name = "ternary-one-port",
    .summary = "the steps of ternary, one way after the other; rings and tori",
    .source = ternary_all_port.source,
    .exactly_once = true,
    .remark = ternary_all_port.remark,
    .needs = {needs::rings()},
    .instead = {"bruck"},
};

}  // namespace

WORMCUBE_ALGORITHMS(ternary){
    allgather_by<Ternary<Ports::all>>(ternary_all_port),
    allgather_by<Ternary<Ports::one>>(ternary_one_port),
    reduce_scatter_by<Ternary<Ports::all>>(ternary_all_port),
    reduce_scatter_by<Ternary<Ports::one>>(ternary_one_port),
};

}  // namespace wormcube
