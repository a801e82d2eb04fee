// Reduce-scatter of uneven blocks: ring.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/ring.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

// The other costs depend on all sizes: only start-ups have a formula.
WORMCUBE_ALGORITHM(reduce_scatterv_ring){
    .operation = operations::reduce_scatterv,
    .name = "ring",
    .summary = "each result travels once round, in two parts to keep the order; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.5",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::line_or_ring()},
    .instead = {"mesh", "hypercube", "bruck"},
    .predict =
        [](const Setting& setting) {
          const Rank p = setting.topology.nodes();
          return Prediction{.startups = p - 1.0};
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_ring(node, call.arguments.reduction, call.input,
                                        call.output.all());
        },
};

}  // namespace wormcube::algorithms
