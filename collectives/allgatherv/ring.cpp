// All-gather with uneven blocks: each block travels once round; one line or ring.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/ring.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

// A step lasts as long as its largest message, which depends on all sizes: only start-ups have a
// formula.
WORMCUBE_ALGORITHM(allgatherv_ring){
    .operation = operations::allgatherv,
    .name = "ring",
    .summary = "each block travels once round; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.4",
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"2.1", "", "ring:8"}},
    .needs = {needs::line_or_ring()},
    .instead = {"mesh", "bruck"},
    .predict =
        [](const Setting& setting) {
          return Prediction{.startups = setting.topology.nodes() - 1.0};
        },
    .program = [](Node& node,
                  const Call& call) { wormcube::allgather_ring(node, call.input, call.output); },
};

}  // namespace wormcube::algorithms
