// All-gather by swing.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/swing.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/own_block.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm allgather_swing, allgather_swing_all_port;
}

void allgather_swing(Node& node, ConstBlocks mine, Blocks all, Ports ports) {
  require_network(
      ports == Ports::one ? algorithms::allgather_swing : algorithms::allgather_swing_all_port,
      node.topology());
  require_allgather("allgather_swing", node, mine, all);
  keep_own(node, mine, all);
  allgather_copies(node, swing_plans(node, ports), all);
}

namespace algorithms {

WORMCUBE_ALGORITHM(allgather_swing){
    .operation = operations::allgather,
    .name = "swing",
    .summary = "partners 1, -1, 3, -5, 11, .. hops away, dimensions by turns; tori of even sides",
    .source = "De Sensi, Bonato, Saam, Hoefler, Swing, NSDI 2024, arXiv 2401.09356",
    .ports = Ports::one,
    .contention_free = false,
    .exactly_once = true,
    .needs = {needs::swing_rings(Ports::one)},
    .instead = {"bruck", "mesh"},
    .predict =
        [](const Setting& setting) {
          return allgather_cost(swing_cost(setting.topology, Ports::one));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_swing(node, call.input, call.output, Ports::one);
        },
    .parts = [](const Setting& setting) { return swing_parts(setting.topology, Ports::one); },
};

WORMCUBE_ALGORITHM(allgather_swing_all_port){
    .operation = operations::allgather,
    .name = "swing-all-port",
    .summary = "2 D copies of swing, rotated and mirrored, on all links; tori of even sides",
    .source = "De Sensi, Bonato, Saam, Hoefler, Swing, NSDI 2024, arXiv 2401.09356",
    .ports = Ports::all,
    .contention_free = false,
    .exactly_once = true,
    .needs = {needs::swing_rings(Ports::all)},
    .instead = {"ring-all-port", "bruck"},
    .predict =
        [](const Setting& setting) {
          return allgather_cost(swing_cost(setting.topology, Ports::all));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_swing(node, call.input, call.output, Ports::all);
        },
    .parts = [](const Setting& setting) { return swing_parts(setting.topology, Ports::all); },
};

}  // namespace algorithms

}  // namespace wormcube
