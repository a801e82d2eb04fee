// Swing's steps, and what each of them sends.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/swing.hpp"

#include "wormcube/collectives/kit/handover_algorithms.hpp"
#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// The same node in the shorter direction.
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
      0};  // by later steps, relative to a node of the other parity with signs changed
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

namespace {

/// The steps for sides 2^L: each combines the blocks of twice as many nodes.
WholeVectors swing_whole_vectors(const Topology& topology, Ports ports) {
  WholeVectors plan;
  const std::vector<TorusCopy> copies = swing_copies(topology, ports);
  plan.parts = static_cast<int>(copies.size());
  for (std::size_t slot = 0; slot < copies.front().slots.size(); ++slot) {
    auto& messages = plan.steps.emplace_back();
    auto& parts = plan.part_of.emplace_back();
    for (int copy = 0; copy < plan.parts; ++copy) {
      const auto [dimension, step] = copies[static_cast<std::size_t>(copy)].slots[slot];
      if (dimension < 0) continue;
      const int hops =
          copy % 2 == 0 ? swing_hops(step) : -swing_hops(step);  // every other mirrored
      messages.push_back({dimension, hops, 1.0 / plan.parts, true});
      parts.push_back(copy);
    }
  }
  return plan;
}

void require_swing_whole_vectors(const Topology& topology) {
  for (const Rank n : topology.sizes()) {
    if (is_power_of_two(n)) continue;
    throw UsageError(
        fmt::format("swing: form=latency needs sides of 2^L nodes; {} has {}; use form=parts or "
                    "recursive-doubling",
                    topology.name(), n));
  }
}

/// All-gather, reduce-scatter and all-reduce by swing. In step s of a ring partners are rho(s) = 1,
/// -1, 3, -5, 11, .. hops apart (from odd coordinates -rho(s)); on a torus the dimensions take
/// their steps in turn. With all ports 2 D copies of a 2 D-th part of each block start with
/// different dimensions, or use the opposite signs. All-reduce is both, one after the other, of
/// vectors of p blocks, with the same bits on all nodes. form=latency, sides 2^L: log2 p steps of
/// whole vectors (all ports: D L of a 2 D-th part in each copy), (|rho| + 1)/2 of them in time (all
/// ports |rho|/(2 D)).
///
/// Network  torus or ring of even sides (all ports: 4 or more), or of 1; one- or all-port. The
///          operator must commute.
/// Cost     One port, sides 2^L: log2 p steps, p - 1 blocks; with all ports (p - 1)/(2 D).
/// Links    (|rho| + 1)/2 = 1, 1, 2, 3, 6, .. messages share a link with one port, |rho| with all:
///          on torus:8x8 66 blocks of time with one port, 17.25 with all.
/// Source   D. De Sensi, T. Bonato, D. Saam, T. Hoefler, Swing: Short-cutting Rings for Higher
///          Bandwidth Allreduce, NSDI 2024, arXiv 2401.09356; the order of blocks, and sides that
///          are not a power of 2, after the authors' program.
template <Ports ports>
struct Swing {
  static constexpr std::string_view whole_name =
      ports == Ports::one ? "swing whole" : "swing-all-port whole";
  static std::span<const HandoverPlan> plans(Node& node, const Options& /*options*/) {
    return node.plan<std::vector<HandoverPlan>>("swing", {static_cast<std::int64_t>(ports)}, [&] {
      return torus_plans(node.topology(), swing_copies(node.topology(), ports), node.rank());
    });
  }
  static Prediction cost(const Setting& setting) {
    return torus_handover_cost(setting.topology, swing_copies(setting.topology, ports));
  }
  /// A ring of four combines two pairs, whichever partner comes first.
  static bool brackets_differ(const Topology& topology) {
    constexpr Rank longest = 4;
    return std::ranges::any_of(topology.sizes(), [](Rank size) { return size > longest; });
  }
  static Rank parts(const Setting& setting) {
    const auto wide = static_cast<Rank>(wide_dimensions(setting.topology).size());
    return ports == Ports::one || wide == 0 ? 1 : 2 * wide;
  }
  static WholeVectors whole(const Topology& topology) {
    return swing_whole_vectors(topology, ports);
  }
  static constexpr auto require_whole = require_swing_whole_vectors;
};

Algorithm swing(Ports ports, std::vector<std::string_view> instead) {
  const bool one = ports == Ports::one;
  return {
      .operation = operations::allgather,
      .name = one ? "swing" : "swing-all-port",
      .summary =
          one ? "partners 1, -1, 3, -5, 11, .. hops away, in each dimension in turn; tori with "
                "even sides"
              : "2 D copies of swing, rotated and mirrored, on all links; tori with even sides",
      .source = "De Sensi, Bonato, Saam, Hoefler, Swing, NSDI 2024, arXiv 2401.09356",
      .ports = ports,
      .exactly_once = true,
      .needs = {needs::swing_rings(ports)},
      .instead = std::move(instead),
  };
}

}  // namespace

WORMCUBE_ALGORITHMS(swing){
    allgather_by<Swing<Ports::one>>(swing(Ports::one, {"bruck", "mesh"})),
    allgather_by<Swing<Ports::all>>(swing(Ports::all, {"all-port", "bruck"})),
    reduce_scatter_by<Swing<Ports::one>>(swing(Ports::one, {"bruck", "mesh"})),
    reduce_scatter_by<Swing<Ports::all>>(swing(Ports::all, {"all-port", "bruck"})),
    allreduce_in_both_forms<Swing<Ports::one>>(swing(Ports::one, {"reduce-scatter-allgather"})),
    allreduce_in_both_forms<Swing<Ports::all>>(swing(Ports::all,
                                                     {"all-port", "reduce-scatter-allgather"})),
};

}  // namespace wormcube
