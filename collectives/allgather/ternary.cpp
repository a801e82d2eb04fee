// All-gather in ternary steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/ternary.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/own_block.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm allgather_ternary, allgather_ternary_one_port;
}

void allgather_ternary(Node& node, ConstBlocks mine, Blocks all, Ports ports) {
  require_network(
      ports == Ports::one ? algorithms::allgather_ternary_one_port : algorithms::allgather_ternary,
      node.topology());
  require_allgather("allgather_ternary", node, mine, all);
  keep_own(node, mine, all);
  allgather_copies(node, ternary_plans(node, ports), all);
}

namespace algorithms {

WORMCUBE_ALGORITHM(allgather_ternary){
    .operation = operations::allgather,
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
    .predict =
        [](const Setting& setting) {
          return allgather_cost(ternary_cost(setting.topology, Ports::all));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_ternary(node, call.input, call.output, Ports::all);
        },
    .parts = [](const Setting& setting) { return ternary_parts(setting.topology, Ports::all); },
};

WORMCUBE_ALGORITHM(allgather_ternary_one_port){
    .operation = operations::allgather,
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
    .predict =
        [](const Setting& setting) {
          return allgather_cost(ternary_cost(setting.topology, Ports::one));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_ternary(node, call.input, call.output, Ports::one);
        },
    .parts = [](const Setting& setting) { return ternary_parts(setting.topology, Ports::one); },
};

}  // namespace algorithms

}  // namespace wormcube
