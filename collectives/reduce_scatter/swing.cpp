// Reduce-scatter by swing.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/swing.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce_scatter/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm reduce_scatter_swing, reduce_scatter_swing_all_port;
}

void reduce_scatter_swing(Node& node, const Reduction& reduction, ConstBlocks in, Span out,
                          Ports ports) {
  require_network(ports == Ports::one ? algorithms::reduce_scatter_swing
                                      : algorithms::reduce_scatter_swing_all_port,
                  node.topology());
  require_reduce_scatter("reduce_scatter_swing", node, reduction, in, out);
  require_commutative("reduce_scatter_swing", reduction);
  reduce_scatter_copies(node, swing_plans(node, ports), reduction, in, out);
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_scatter_swing){
    .operation = operations::reduce_scatter,
    .name = "swing",
    .summary = "partners 1, -1, 3, -5, 11, .. hops away, dimensions by turns; tori of even sides",
    .source = "De Sensi, Bonato, Saam, Hoefler, Swing, NSDI 2024, arXiv 2401.09356",
    .ports = Ports::one,
    .contention_free = false,
    .exactly_once = true,
    .needs = {needs::swing_rings(Ports::one)},
    .instead = {"bruck", "mesh"},
    .needs_commutative = true,
    .predict = [](const Setting& setting) { return swing_cost(setting.topology, Ports::one); },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_swing(node, call.arguments.reduction, call.input,
                                         call.output.all(), Ports::one);
        },
    .parts = [](const Setting& setting) { return swing_parts(setting.topology, Ports::one); },
};

WORMCUBE_ALGORITHM(reduce_scatter_swing_all_port){
    .operation = operations::reduce_scatter,
    .name = "swing-all-port",
    .summary = "2 D copies of swing, rotated and mirrored, on all links; tori of even sides",
    .source = "De Sensi, Bonato, Saam, Hoefler, Swing, NSDI 2024, arXiv 2401.09356",
    .ports = Ports::all,
    .contention_free = false,
    .exactly_once = true,
    .needs = {needs::swing_rings(Ports::all)},
    .instead = {"ring-all-port", "bruck"},
    .needs_commutative = true,
    .predict = [](const Setting& setting) { return swing_cost(setting.topology, Ports::all); },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_swing(node, call.arguments.reduction, call.input,
                                         call.output.all(), Ports::all);
        },
    .parts = [](const Setting& setting) { return swing_parts(setting.topology, Ports::all); },
};

}  // namespace algorithms

}  // namespace wormcube
