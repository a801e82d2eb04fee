// All-reduce by swing.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/swing.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/runtime/error.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm allreduce_swing, allreduce_swing_all_port;
}

namespace {

void require_whole_vectors(const Topology& topology) {
  if (const auto reason = without_swing_whole_vectors(topology)) {
    throw UsageError("swing: form=latency " + *reason + "; use form=parts or recursive-doubling");
  }
}

}  // namespace

void allreduce_swing(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                     Ports ports, VectorForm form) {
  require_network(
      ports == Ports::one ? algorithms::allreduce_swing : algorithms::allreduce_swing_all_port,
      node.topology());
  require_reduction("allreduce_swing", node, reduction, mine, result);
  require_commutative("allreduce_swing", reduction);
  if (form == VectorForm::parts) {
    allreduce_copies(node, swing_plans(node, ports), reduction, mine, result);
    return;
  }
  require_whole_vectors(node.topology());
  const auto& plan =
      node.plan<WholeVectors>("swing whole", {static_cast<std::int64_t>(ports)},
                              [&] { return swing_whole_vectors(node.topology(), ports); });
  allreduce_whole_vectors(node, plan, reduction, mine, result);
}

namespace {

VectorForm form_of(const Options& options) { return options.choice<VectorForm>("form"); }

Prediction predict_swing(const Setting& setting, Ports ports) {
  const Topology& topology = setting.topology;
  if (sends_whole(setting.options)) {
    return whole_vectors_cost(topology, swing_whole_vectors(topology, ports));
  }
  return allreduce_cost(swing_cost(topology, ports), topology.nodes());
}

Rank allreduce_swing_parts(const Setting& setting, Ports ports) {
  const Rank copies = swing_parts(setting.topology, ports);
  return sends_whole(setting.options) ? copies : setting.topology.nodes() * copies;
}

void require_swing_form(const Setting& setting) {
  if (sends_whole(setting.options)) require_whole_vectors(setting.topology);
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(allreduce_swing){
    .operation = operations::allreduce,
    .name = "swing",
    .summary = "partners 1, -1, 3, -5, 11, .. hops away, dimensions by turns; tori of even sides",
    .source = "De Sensi, Bonato, Saam, Hoefler, Swing, NSDI 2024, arXiv 2401.09356",
    .ports = Ports::one,
    .contention_free = false,
    .exactly_once = true,
    .options = {vector_form()},
    .needs = {needs::swing_rings(Ports::one)},
    .instead = {"reduce-scatter-allgather"},
    .needs_commutative = true,
    .brackets_differ = sends_whole,
    .require = require_swing_form,
    .predict = [](const Setting& setting) { return predict_swing(setting, Ports::one); },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_swing(node, call.arguments.reduction, call.input.all(),
                                    call.output.all(), Ports::one, form_of(call.options));
        },
    .parts = [](const Setting& setting) { return allreduce_swing_parts(setting, Ports::one); },
};

WORMCUBE_ALGORITHM(allreduce_swing_all_port){
    .operation = operations::allreduce,
    .name = "swing-all-port",
    .summary = "2 D copies of swing, rotated and mirrored, on all links; tori of even sides",
    .source = "De Sensi, Bonato, Saam, Hoefler, Swing, NSDI 2024, arXiv 2401.09356",
    .ports = Ports::all,
    .contention_free = false,
    .exactly_once = true,
    .options = {vector_form()},
    .needs = {needs::swing_rings(Ports::all)},
    .instead = {"ring-all-port", "reduce-scatter-allgather"},
    .needs_commutative = true,
    .brackets_differ = sends_whole,
    .require = require_swing_form,
    .predict = [](const Setting& setting) { return predict_swing(setting, Ports::all); },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_swing(node, call.arguments.reduction, call.input.all(),
                                    call.output.all(), Ports::all, form_of(call.options));
        },
    .parts = [](const Setting& setting) { return allreduce_swing_parts(setting, Ports::all); },
};

}  // namespace algorithms

}  // namespace wormcube
