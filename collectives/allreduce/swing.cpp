// All-reduce by swing.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/swing.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm allreduce_swing, allreduce_swing_all_port;
}

void allreduce_swing(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                     Ports ports) {
  require_network(
      ports == Ports::one ? algorithms::allreduce_swing : algorithms::allreduce_swing_all_port,
      node.topology());
  require_reduction("allreduce_swing", node, reduction, mine, result);
  require_commutative("allreduce_swing", reduction);
  allreduce_copies(node, swing_plans(node, ports), reduction, mine, result);
}

namespace algorithms {

WORMCUBE_ALGORITHM(allreduce_swing){
    .operation = operations::allreduce,
    .name = "swing",
    .summary = "partners 1, -1, 3, -5, 11, .. hops away, dimensions by turns; tori of even sides",
    .source = "De Sensi, Bonato, Saam, Hoefler, Swing, NSDI 2024, arXiv 2401.09356",
    .ports = Ports::one,
    .contention_free = false,
    .exactly_once = true,
    .needs = {needs::swing_rings(Ports::one)},
    .instead = {"reduce-scatter-allgather"},
    .needs_commutative = true,
    .predict =
        [](const Setting& setting) {
          return allreduce_cost(swing_cost(setting.topology, Ports::one), setting.topology.nodes());
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_swing(node, call.arguments.reduction, call.input.all(),
                                    call.output.all(), Ports::one);
        },
    .parts =
        [](const Setting& setting) {
          return setting.topology.nodes() * swing_parts(setting.topology, Ports::one);
        },
};

WORMCUBE_ALGORITHM(allreduce_swing_all_port){
    .operation = operations::allreduce,
    .name = "swing-all-port",
    .summary = "2 D copies of swing, rotated and mirrored, on all links; tori of even sides",
    .source = "De Sensi, Bonato, Saam, Hoefler, Swing, NSDI 2024, arXiv 2401.09356",
    .ports = Ports::all,
    .contention_free = false,
    .exactly_once = true,
    .needs = {needs::swing_rings(Ports::all)},
    .instead = {"ring-all-port", "reduce-scatter-allgather"},
    .needs_commutative = true,
    .predict =
        [](const Setting& setting) {
          return allreduce_cost(swing_cost(setting.topology, Ports::all), setting.topology.nodes());
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_swing(node, call.arguments.reduction, call.input.all(),
                                    call.output.all(), Ports::all);
        },
    .parts =
        [](const Setting& setting) {
          return setting.topology.nodes() * swing_parts(setting.topology, Ports::all);
        },
};

}  // namespace algorithms

}  // namespace wormcube
