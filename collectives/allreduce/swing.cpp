// All-reduce by swing.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/swing.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/whole_vectors.hpp"
#include "wormcube/runtime/base/error.hpp"

namespace wormcube {

namespace {

void require_whole_vectors(const Topology& topology) {
  if (const auto reason = without_swing_whole_vectors(topology)) {
    throw UsageError("swing: form=latency " + *reason + "; use form=parts or recursive-doubling");
  }
}

/// All nodes' vectors combined, on every node, bit by bit the same on all: reduce-scatter, then
/// all-gather. In step s of a ring partners are rho(s) = 1, -1, 3, -5, 11, .. hops apart (from odd
/// coordinates -rho(s)); on a torus the dimensions take their steps by turns. With all ports 2 D
/// copies of a 2 D-th part of each block, which begin with different dimensions, or go the other
/// way about. form=latency, sides 2^L: log2 p steps of whole vectors (all ports: D L of a 2 D-th
/// part in each copy), (|rho| + 1)/2 of them in time (all ports |rho|/(2 D)); with rounding nodes
/// may differ in the last bits.
///
/// Network  torus or ring of even sides (all ports: 4 or more), or of 1; one- or all-port. The
///          operator must commute.
/// Cost     One port, sides 2^L: 2 log2 p steps, 2 (p - 1)/p vectors; with all ports (p - 1)/(p D).
/// Links    (|rho| + 1)/2 = 1, 1, 2, 3, 6, .. messages share a link with one port, |rho| with all:
///          of torus:8x8 2.0625 vectors of time with one port, 0.539 with all.
/// Source   D. De Sensi, T. Bonato, D. Saam, T. Hoefler, Swing: Short-cutting Rings for Higher
///          Bandwidth Allreduce, NSDI 2024, arXiv 2401.09356; what goes when, and sides that are
///          no power of 2, after the authors' program.
template <Ports ports>
void allreduce_swing(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  if (!sends_whole(call.options)) {
    allreduce_copies(node, swing_plans(node, ports), reduction, call.input.all(),
                     call.output.all());
    return;
  }
  const auto& plan =
      node.plan<WholeVectors>("swing whole", {static_cast<std::int64_t>(ports)},
                              [&] { return swing_whole_vectors(node.topology(), ports); });
  allreduce_whole_vectors(node, plan, reduction, call.input.all(), call.output.all());
}

template <Ports ports>
Prediction predict_swing(const Setting& setting) {
  const Topology& topology = setting.topology;
  if (sends_whole(setting.options)) {
    return whole_vectors_cost(topology, swing_whole_vectors(topology, ports));
  }
  return allreduce_cost(swing_cost(topology, ports), topology.nodes());
}

template <Ports ports>
Rank allreduce_swing_parts(const Setting& setting) {
  const Rank copies = swing_parts(setting.topology, ports);
  return sends_whole(setting.options) ? copies : setting.topology.nodes() * copies;
}

void require_swing_form(const Setting& setting) {
  if (sends_whole(setting.options)) require_whole_vectors(setting.topology);
}

}  // namespace

WORMCUBE_ALGORITHMS(allreduce_swing) = with_variant(
    {
        .operation = operations::allreduce,
        .name = "swing",
        .summary =
            "partners 1, -1, 3, -5, 11, .. hops away, dimensions by turns; tori of even sides",
        .source = "De Sensi, Bonato, Saam, Hoefler, Swing, NSDI 2024, arXiv 2401.09356",
        .exactly_once = true,
        .options = {vector_form()},
        .needs = {needs::swing_rings(Ports::one)},
        .instead = {"reduce-scatter-allgather"},
        .needs_commutative = true,
        .brackets_differ = sends_whole,
        .require = require_swing_form,
        .predict = predict_swing<Ports::one>,
        .program = allreduce_swing<Ports::one>,
        .parts = allreduce_swing_parts<Ports::one>,
    },
    [](Algorithm& all_port) {
      all_port.name = "swing-all-port";
      all_port.summary =
          "2 D copies of swing, rotated and mirrored, on all links; tori of even sides";
      all_port.ports = Ports::all;
      all_port.needs = {needs::swing_rings(Ports::all)};
      all_port.instead = {"ring-all-port", "reduce-scatter-allgather"};
      all_port.predict = predict_swing<Ports::all>;
      all_port.program = allreduce_swing<Ports::all>;
      all_port.parts = allreduce_swing_parts<Ports::all>;
    });

}  // namespace wormcube
