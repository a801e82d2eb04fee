// All-gather on rings, tori and hypercubes with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/own_block.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm allgather_ring_all_port;
}

void allgather_all_port(Node& node, ConstBlocks mine, Blocks all, HalfWay half) {
  if (!node.topology().is_hypercube()) {
    require_network(algorithms::allgather_ring_all_port, node.topology());
  }
  require_allgather("allgather_all_port", node, mine, all);
  keep_own(node, mine, all);
  allgather_copies(node, ring_all_port_plans(node, half), all);
}

namespace algorithms {

WORMCUBE_ALGORITHM(allgather_ring_all_port){
    .operation = operations::allgather,
    .name = "ring-all-port",
    .summary = "rotated copies, both ways round each ring, on all links at once; rings and tori",
    .source =
        "Grama, Gupta, Karypis, Kumar, sec. 4.7.2; split: Jain, Sabharwal, ICS 2010 (abstract)",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .options = {half_way_option()},
    .rows = {{"2.9", "", "ring:8"}, {"2.9", "", "torus:4x4"}},
    .needs = {needs::rings()},
    .instead = {"mesh", "bruck"},
    .predict =
        [](const Setting& setting) {
          return allgather_cost(ring_all_port_cost(setting.topology, half_of(setting.options)));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_all_port(node, call.input, call.output, half_of(call.options));
        },
    .parts =
        [](const Setting& setting) {
          return ring_all_port_parts(setting.topology, half_of(setting.options));
        },
};

WORMCUBE_ALGORITHM(allgather_hypercube_all_port){
    .operation = operations::allgather,
    .name = "hypercube-all-port",
    .summary = "d rotated copies of recursive doubling on all links at once; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3 and 4.7.2",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"2.9", "", "hypercube:4"}},
    .needs = {needs::hypercube()},
    .instead = {"ring-all-port", "bruck"},
    .predict =
        [](const Setting& setting) {
          return allgather_cost(ring_all_port_cost(setting.topology, HalfWay::plus));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_all_port(node, call.input, call.output);
        },
    .parts =
        [](const Setting& setting) { return ring_all_port_parts(setting.topology, HalfWay::plus); },
};

}  // namespace algorithms

}  // namespace wormcube
