// All-gather with uneven blocks: recursive doubling: exchange all there is, bit by bit; 2^d nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/hypercube.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

// A step lasts as long as its largest message, which depends on all sizes: only start-ups have a
// formula.
WORMCUBE_ALGORITHM(allgatherv_hypercube){
    .operation = operations::allgatherv,
    .name = "hypercube",
    .summary = "recursive doubling: exchange all there is, bit by bit; 2^d nodes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.7",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .options = {{.name = "order",
                 .choices = {"ascending", "descending"},
                 .help = "of the label's bits"}},
    .rows = {{"2.5", "order=ascending", "hypercube:3"}},
    .needs = {needs::nodes_power_of_two()},
    .instead = {"bruck"},
    .predict =
        [](const Setting& setting) {
          return Prediction{.startups = log2_ceiling(setting.topology.nodes())};
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_hypercube(node, call.input, call.output,
                                        call.options.choice<BitOrder>("order"));
        },
};

}  // namespace wormcube::algorithms
