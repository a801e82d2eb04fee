// All-reduce both ways round all rings.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/ring_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm allreduce_ring_all_port;
}

void allreduce_ring_all_port(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                             HalfWay half) {
  require_network(algorithms::allreduce_ring_all_port, node.topology());
  require_reduction("allreduce_ring_all_port", node, reduction, mine, result);
  require_commutative("allreduce_ring_all_port", reduction);
  allreduce_copies(node, ring_all_port_plans(node, half), reduction, mine, result);
}

namespace algorithms {

WORMCUBE_ALGORITHM(allreduce_ring_all_port){
    .operation = operations::allreduce,
    .name = "ring-all-port",
    .summary =
        "both ways round every ring, to neighbours, rotated copies on all links; rings and tori",
    .source =
        "Jain, Sabharwal, ICS 2010 (abstract); the all-gather of Grama, Gupta, Karypis, Kumar, "
        "sec. 4.7.2, backwards",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .options = {half_way_option()},
    .needs = {needs::rings()},
    .instead = {"reduce-scatter-allgather"},
    .needs_commutative = true,
    .predict =
        [](const Setting& setting) {
          return allreduce_cost(ring_all_port_cost(setting.topology, half_of(setting.options)),
                                setting.topology.nodes());
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_ring_all_port(node, call.arguments.reduction, call.input.all(),
                                            call.output.all(), half_of(call.options));
        },
    .parts =
        [](const Setting& setting) {
          return setting.topology.nodes() *
                 ring_all_port_parts(setting.topology, half_of(setting.options));
        },
};

}  // namespace algorithms

}  // namespace wormcube
