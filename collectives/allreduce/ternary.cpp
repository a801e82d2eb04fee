// All-reduce in ternary steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/ternary.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/whole_vectors.hpp"
#include "wormcube/runtime/base/error.hpp"

namespace wormcube {

namespace {

void require_whole_ternary(const Topology& topology) {
  if (const auto reason = without_ternary_whole_vectors(topology)) {
    throw UsageError("ternary: form=latency " + *reason + "; use form=parts");
  }
}

/// All nodes' vectors combined, on every node, bit by bit the same on all: reduce-scatter, then
/// all-gather. In step k of a ring a node hands on 3^k hops up and down at once: of L = ceil(log3
/// n) steps the last one reaches as far as is left. With all ports D copies of a D-th part of each
/// block begin with different dimensions; with one port each step is two. form=latency, all ports,
/// one ring of 3^K nodes: K steps of whole vectors both ways, (n - 1)/2 of them in time; with
/// rounding nodes may differ in the last bits.
///
/// Network  ring or torus of any sides; all- or one-port. The operator must commute.
/// Cost     All ports, sides 3^L: 2 D L steps, (p - 1)/(p D) vectors.
/// Links    3^k messages share a link: 2/3 K vectors of time on a ring of 3^K.
/// Source   J. Juerss, V. Addanki, S. Schmid, Trivance, arXiv 2602.17254 (abstract, and the
///          simulation program for hops and repeated blocks); J. Juerss, S. Schmid, ReTri, arXiv
///          2605.26930 (abstract). The order of dimensions is ours.
template <Ports ports>
void allreduce_ternary(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  if (ports == Ports::one || !sends_whole(call.options)) {
    allreduce_copies(node, ternary_plans(node, ports), reduction, call.input.all(),
                     call.output.all());
    return;
  }
  const auto& plan = node.plan<WholeVectors>(
      "ternary whole", {}, [&] { return ternary_whole_vectors(node.topology()); });
  allreduce_whole_vectors(node, plan, reduction, call.input.all(), call.output.all());
}

template <Ports ports>
Prediction predict_ternary(const Setting& setting) {
  if (ports == Ports::all && sends_whole(setting.options)) {
    return whole_vectors_cost(setting.topology, ternary_whole_vectors(setting.topology));
  }
  return allreduce_cost(ternary_cost(setting.topology, ports), setting.topology.nodes());
}

template <Ports ports>
Rank allreduce_ternary_parts(const Setting& setting) {
  if (ports == Ports::all && sends_whole(setting.options)) return 1;
  return setting.topology.nodes() * ternary_parts(setting.topology, ports);
}

}  // namespace

WORMCUBE_ALGORITHMS(allreduce_ternary) = with_variant(
    {
        .operation = operations::allreduce,
        .name = "ternary",
        .summary =
            "1, 3, 9, .. hops both ways at once: fewest start-ups of two ports; rings and tori",
        .source = "Juerss, Addanki, Schmid, Trivance, arXiv 2602.17254 (abstract, program); "
                  "Juerss, Schmid, "
                  "ReTri, arXiv 2605.26930 (abstract)",
        .ports = Ports::all,
        .exactly_once = true,
        .remark = "the order of dimensions ours",
        .options = {vector_form()},
        .needs = {needs::rings()},
        .instead = {"reduce-scatter-allgather"},
        .needs_commutative = true,
        .brackets_differ = sends_whole,
        .require =
            [](const Setting& setting) {
              if (sends_whole(setting.options)) require_whole_ternary(setting.topology);
            },
        .predict = predict_ternary<Ports::all>,
        .program = allreduce_ternary<Ports::all>,
        .parts = allreduce_ternary_parts<Ports::all>,
    },
    [](Algorithm& one_port) {
      one_port.name = "ternary-one-port";
      one_port.summary = "the steps of ternary, one way after the other; rings and tori";
      one_port.ports = Ports::one;
      one_port.options = {};
      one_port.brackets_differ = nullptr;
      one_port.require = nullptr;
      one_port.predict = predict_ternary<Ports::one>;
      one_port.program = allreduce_ternary<Ports::one>;
      one_port.parts = allreduce_ternary_parts<Ports::one>;
    });

}  // namespace wormcube
