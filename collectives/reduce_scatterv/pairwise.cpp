// Reduce-scatter of uneven blocks: pairwise.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/pairwise.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

// The other costs depend on all sizes: only start-ups have a formula.
WORMCUBE_ALGORITHM(reduce_scatterv_pairwise){
    .operation = operations::reduce_scatterv,
    .name = "pairwise",
    .summary = "step t sends the block for the node t ranks before; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2 and 4.6",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .predict =
        [](const Setting& setting) {
          const Rank p = setting.topology.nodes();
          return Prediction{.startups = p - 1.0};
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_pairwise(node, call.arguments.reduction, call.input,
                                            call.output.all());
        },
};

}  // namespace wormcube::algorithms
