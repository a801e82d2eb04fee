// Reduce-scatter of uneven blocks: hypercube.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/hypercube.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

// The other costs depend on all sizes: only start-ups have a formula.
WORMCUBE_ALGORITHM(reduce_scatterv_hypercube){
    .operation = operations::reduce_scatterv,
    .name = "hypercube",
    .summary = "strided halves swapped bit by bit, lowest first; every network of 2^d nodes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.8",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .needs = {needs::nodes_power_of_two()},
    .instead = {"bruck", "pairwise", "ring"},
    .predict =
        [](const Setting& setting) {
          const Rank p = setting.topology.nodes();
          return Prediction{.startups = static_cast<double>(log2_ceiling(p))};
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_hypercube(node, call.arguments.reduction, call.input,
                                             call.output.all());
        },
};

}  // namespace wormcube::algorithms
