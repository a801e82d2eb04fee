// Broadcast of long messages both ways round all rings.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/ring_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce/parts.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/collectives/ring_scatter.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm broadcast_ring_all_port;
}

void broadcast_ring_all_port(Node& node, Span message, Rank root, HalfWay half) {
  require_network(algorithms::broadcast_ring_all_port, node.topology());
  require_root("broadcast_ring_all_port", node.size(), root);
  const std::vector<Bytes> offsets = part_offsets(message.size(), 1, node.size());
  const Blocks parts(message, offsets);
  scatter_rings(node, parts, root, half);
  allgather_copies(node, ring_all_port_plans(node, half), parts);
}

namespace algorithms {

WORMCUBE_ALGORITHM(broadcast_ring_all_port){
    .operation = operations::broadcast,
    .name = "ring-all-port",
    .summary =
        "p parts scattered and gathered both ways round every ring, on all links: for long "
        "messages; tori",
    .source = "Jain, Sabharwal, ICS 2010 (abstract); the text ours",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = false,
    .options = {half_way_option()},
    .needs = {needs::rings()},
    .instead = {"plan", "scatter-allgather"},

    .predict =
        [](const Setting& setting) {
          return ring_scatter_and_all_cost(setting.topology, half_of(setting.options));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::broadcast_ring_all_port(node, call.output.all(), call.arguments.root,
                                            half_of(call.options));
        },
    .parts =
        [](const Setting& setting) {
          return setting.topology.nodes() *
                 ring_all_port_parts(setting.topology, half_of(setting.options));
        },
};

}  // namespace algorithms

}  // namespace wormcube
