// Broadcast of long messages in both directions of all rings.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/all_port.hpp"
#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/collectives/kit/ring_scatter.hpp"

namespace wormcube {

namespace {

/// Broadcast of a long message: p parts of it are scattered, then gathered by all, both by the
/// ring-all-port algorithms of these operations.
///
/// Network  ring or torus of any sides; all-port.
/// Cost     sides n: 2 D floor(n/2) steps; (p - 1)/(p D) messages if n is odd or half=split.
/// Links    each link carries one message in a step.
/// Source   N. Jain, Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus
///          interconnects, ICS 2010 (abstract); the algorithm here is ours after it.
void broadcast_ring_all_port(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const HalfWay half = half_of(call.options);
  const std::vector<Bytes> offsets = part_offsets(call.output.all().size(), 1, node.size());
  const Blocks parts(call.output.all(), offsets);
  run_rings(node, Way::scatter, parts, root, half);
  allgather_copies(node, all_port_plans(node, half), parts);
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_ring_all_port){
    .operation = operations::broadcast,
    .name = "ring-all-port",
    .summary =
        "p parts are scattered and gathered in both directions of every ring, on all links, for "
        "long messages; tori",
    .source = "Jain, Sabharwal, ICS 2010 (abstract only; our details)",
    .ports = Ports::all,
    .contention_free = true,
    .neighbours_only = true,
    .options = {half_way_option()},
    .needs = {needs::rings()},
    .instead = {"plan", "scatter-allgather"},

    .predict =
        [](const Setting& setting) {
          return ring_scatter_and_all_cost(setting.topology, half_of(setting.options));
        },
    .program = broadcast_ring_all_port,
    .parts =
        [](const Setting& setting) {
          return setting.topology.nodes() *
                 all_port_parts(setting.topology, half_of(setting.options));
        },
};

}  // namespace wormcube
