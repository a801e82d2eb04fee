// Reduce-scatter in ternary steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/ternary.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce_scatter/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm reduce_scatter_ternary, reduce_scatter_ternary_one_port;
}

void reduce_scatter_ternary(Node& node, const Reduction& reduction, ConstBlocks in, Span out,
                            Ports ports) {
  require_network(ports == Ports::one ? algorithms::reduce_scatter_ternary_one_port
                                      : algorithms::reduce_scatter_ternary,
                  node.topology());
  require_reduce_scatter("reduce_scatter_ternary", node, reduction, in, out);
  require_commutative("reduce_scatter_ternary", reduction);
  reduce_scatter_copies(node, ternary_plans(node, ports), reduction, in, out);
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_scatter_ternary){
    .operation = operations::reduce_scatter,
    .name = "ternary",
    .summary = "1, 3, 9, .. hops both ways at once: fewest start-ups of two ports; rings and tori",
    .source =
        "Juerss, Addanki, Schmid, Trivance, arXiv 2602.17254 (abstract, program); Juerss, Schmid, "
        "ReTri, arXiv 2605.26930 (abstract)",
    .ports = Ports::all,
    .contention_free = false,
    .exactly_once = true,
    .remark = "the order of dimensions ours",
    .needs = {needs::rings()},
    .instead = {"bruck", "mesh"},
    .needs_commutative = true,
    .predict = [](const Setting& setting) { return ternary_cost(setting.topology, Ports::all); },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_ternary(node, call.arguments.reduction, call.input,
                                           call.output.all(), Ports::all);
        },
    .parts = [](const Setting& setting) { return ternary_parts(setting.topology, Ports::all); },
};

WORMCUBE_ALGORITHM(reduce_scatter_ternary_one_port){
    .operation = operations::reduce_scatter,
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
    .instead = {"bruck"},
    .needs_commutative = true,
    .predict = [](const Setting& setting) { return ternary_cost(setting.topology, Ports::one); },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_ternary(node, call.arguments.reduction, call.input,
                                           call.output.all(), Ports::one);
        },
    .parts = [](const Setting& setting) { return ternary_parts(setting.topology, Ports::one); },
};

}  // namespace algorithms

}  // namespace wormcube
