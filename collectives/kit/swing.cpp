// Swing's steps, and what goes in each.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/swing.hpp"

#include "wormcube/collectives/kit/handover_algorithms.hpp"
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

namespace {

/// All-gather and reduce-scatter by swing. In step s of a ring partners are rho(s) = 1, -1, 3, -5,
/// 11, .. hops apart (from odd coordinates -rho(s)); on a torus the dimensions take their steps by
/// turns. With all ports 2 D copies of a 2 D-th part of each block, which begin with different
/// dimensions, or go the other way about.
///
/// Network  torus or ring of even sides (all ports: 4 or more), or of 1; one- or all-port. The
///          operator must commute.
/// Cost     One port, sides 2^L: log2 p steps, p - 1 blocks; with all ports (p - 1)/(2 D).
/// Links    (|rho| + 1)/2 = 1, 1, 2, 3, 6, .. messages share a link with one port, |rho| with all:
///          of torus:8x8 66 blocks of time with one port, 17.25 with all.
/// Source   D. De Sensi, T. Bonato, D. Saam, T. Hoefler, Swing: Short-cutting Rings for Higher
///          Bandwidth Allreduce, NSDI 2024, arXiv 2401.09356; what goes when, and sides that are
///          no power of 2, after the authors' program.
template <Ports ports>
struct Swing {
  static std::span<const HandoverPlan> plans(Node& node, const Options& /*options*/) {
    return swing_plans(node, ports);
  }
  static Prediction cost(const Setting& setting) { return swing_cost(setting.topology, ports); }
  static Rank parts(const Setting& setting) { return swing_parts(setting.topology, ports); }
};

const Algorithm swing_one_port{
    .operation = operations::allgather,
    .name = "swing",
    .summary = "partners 1, -1, 3, -5, 11, .. hops away, dimensions by turns; tori of even sides",
    .source = "De Sensi, Bonato, Saam, Hoefler, Swing, NSDI 2024, arXiv 2401.09356",
    .exactly_once = true,
    .needs = {needs::swing_rings(Ports::one)},
    .instead = {"bruck", "mesh"},
};
const Algorithm swing_all_port{
    .operation = operations::allgather,
    .name = "swing-all-port",
    .summary = "2 D copies of swing, rotated and mirrored, on all links; tori of even sides",
    .source = swing_one_port.source,
    .ports = Ports::all,
    .exactly_once = true,
    .needs = {needs::swing_rings(Ports::all)},
    .instead = {"ring-all-port", "bruck"},
};

}  // namespace

WORMCUBE_ALGORITHMS(swing){
    allgather_by<Swing<Ports::one>>(swing_one_port),
    allgather_by<Swing<Ports::all>>(swing_all_port),
    reduce_scatter_by<Swing<Ports::one>>(swing_one_port),
    reduce_scatter_by<Swing<Ports::all>>(swing_all_port),
};

}  // namespace wormcube
