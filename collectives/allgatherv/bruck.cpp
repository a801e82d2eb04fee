// All-gather with uneven blocks: twice as much in each step, from 2^t ranks on; every network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/bruck.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

// A step lasts as long as its largest message, which depends on all sizes: only start-ups have a
// formula.
WORMCUBE_ALGORITHM(allgatherv_bruck){
    .operation = operations::allgatherv,
    .name = "bruck",
    .summary = "twice as much in each step, from 2^t ranks on; every network",
    .source = "Grama, Gupta, Karypis, Kumar, Eq. 4.4 for any p; Bruck et al. 1997",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",

    .rows = {{"2.5", "", "complete:7"}},

    .predict =
        [](const Setting& setting) {
          return Prediction{.startups = log2_ceiling(setting.topology.nodes())};
        },
    .program = [](Node& node,
                  const Call& call) { wormcube::allgather_bruck(node, call.input, call.output); },
};

}  // namespace wormcube::algorithms
