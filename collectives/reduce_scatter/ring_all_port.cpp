// Reduce-scatter both ways round all rings.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/ring_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce_scatter/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm reduce_scatter_ring_all_port;
}

void reduce_scatter_ring_all_port(Node& node, const Reduction& reduction, ConstBlocks in, Span out,
                                  HalfWay half) {
  require_network(algorithms::reduce_scatter_ring_all_port, node.topology());
  require_reduce_scatter("reduce_scatter_ring_all_port", node, reduction, in, out);
  require_commutative("reduce_scatter_ring_all_port", reduction);
  reduce_scatter_copies(node, ring_all_port_plans(node, half), reduction, in, out);
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_scatter_ring_all_port){
    .operation = operations::reduce_scatter,
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
    .instead = {"bruck", "mesh"},
    .needs_commutative = true,
    .predict =
        [](const Setting& setting) {
          return ring_all_port_cost(setting.topology, half_of(setting.options));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_ring_all_port(node, call.arguments.reduction, call.input,
                                                 call.output.all(), half_of(call.options));
        },
    .parts =
        [](const Setting& setting) {
          return ring_all_port_parts(setting.topology, half_of(setting.options));
        },
};

}  // namespace algorithms

}  // namespace wormcube
