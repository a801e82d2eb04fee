// All-reduce in ternary steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/ternary.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/runtime/error.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm allreduce_ternary, allreduce_ternary_one_port;
}

namespace {

void require_whole_ternary(const Topology& topology) {
  if (const auto reason = without_ternary_whole_vectors(topology)) {
    throw UsageError("ternary: form=latency " + *reason + "; use form=parts");
  }
}

}  // namespace

void allreduce_ternary(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                       Ports ports, VectorForm form) {
  require_network(
      ports == Ports::one ? algorithms::allreduce_ternary_one_port : algorithms::allreduce_ternary,
      node.topology());
  require_reduction("allreduce_ternary", node, reduction, mine, result);
  require_commutative("allreduce_ternary", reduction);
  if (form == VectorForm::parts) {
    allreduce_copies(node, ternary_plans(node, ports), reduction, mine, result);
    return;
  }
  if (ports == Ports::one) throw UsageError("ternary: form=latency needs all ports");
  require_whole_ternary(node.topology());
  const auto& plan = node.plan<WholeVectors>(
      "ternary whole", {}, [&] { return ternary_whole_vectors(node.topology()); });
  allreduce_whole_vectors(node, plan, reduction, mine, result);
}

namespace algorithms {

WORMCUBE_ALGORITHM(allreduce_ternary){
    .operation = operations::allreduce,
    .name = "ternary",
    .summary = "1, 3, 9, .. hops both ways at once: fewest start-ups of two ports; rings and tori",
    .source =
        "Juerss, Addanki, Schmid, Trivance, arXiv 2602.17254 (abstract, program); Juerss, Schmid, "
        "ReTri, arXiv 2605.26930 (abstract)",
    .ports = Ports::all,
    .contention_free = false,
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
    .predict =
        [](const Setting& setting) {
          if (sends_whole(setting.options)) {
            return whole_vectors_cost(setting.topology, ternary_whole_vectors(setting.topology));
          }
          return allreduce_cost(ternary_cost(setting.topology, Ports::all),
                                setting.topology.nodes());
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_ternary(
              node, call.arguments.reduction, call.input.all(), call.output.all(), Ports::all,
              sends_whole(call.options) ? VectorForm::latency : VectorForm::parts);
        },
    .parts =
        [](const Setting& setting) {
          return sends_whole(setting.options)
                     ? 1
                     : setting.topology.nodes() * ternary_parts(setting.topology, Ports::all);
        },
};

WORMCUBE_ALGORITHM(allreduce_ternary_one_port){
    .operation = operations::allreduce,
    .name = "ternary-one-port",
    .summary = "the steps of ternary, one way after the other; rings and tori",
    .source =
        "Juerss, Addanki, Schmid, Trivance, arXiv 2602.17254 (abstract, program); Juerss, Schmid, "
        "ReTri, arXiv 2605.26930 (abstract)",
    .ports = Ports::one,
    .contention_free = false,
    .exactly_once = true,
    .remark = "the order of dimensions ours",
    .needs = {needs::rings()},
    .instead = {"reduce-scatter-allgather"},
    .needs_commutative = true,
    .predict =
        [](const Setting& setting) {
          return allreduce_cost(ternary_cost(setting.topology, Ports::one),
                                setting.topology.nodes());
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_ternary(node, call.arguments.reduction, call.input.all(),
                                      call.output.all(), Ports::one);
        },
    .parts =
        [](const Setting& setting) {
          return setting.topology.nodes() * ternary_parts(setting.topology, Ports::one);
        },
};

}  // namespace algorithms

}  // namespace wormcube
