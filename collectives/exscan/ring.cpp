// Exclusive prefix reduction along a line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scan/ring.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

WORMCUBE_ALGORITHM(exscan_ring){
    .operation = operations::exscan,
    .name = "ring",
    .summary = "neighbour to neighbour from node 0 on, in segments; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3",
    .contention_free = true,
    .exactly_once = true,
    .remark = "our extension: a pipeline",
    .options = {segments_option()},
    .needs = {needs::line_or_ring()},
    .instead = {"hypercube"},
    .predict =
        [](const Setting& setting) {
          return scan_ring_cost(setting.topology.nodes(), Prefix::exclusive,
                                segments_of(setting.options));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::scan_ring(node, call.arguments.reduction, call.input.all(), call.output.all(),
                              Prefix::exclusive, segments_of(call.options));
        },
    .parts = [](const Setting& setting) { return segments_of(setting.options); },
};

}  // namespace wormcube::algorithms
