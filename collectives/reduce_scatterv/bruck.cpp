// Reduce-scatter of uneven blocks: bruck.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/bruck.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

// The other costs depend on all sizes: only start-ups have a formula.
WORMCUBE_ALGORITHM(reduce_scatterv_bruck){
    .operation = operations::reduce_scatterv,
    .name = "bruck",
    .summary = "the dual of Bruck's all-gather, ceil(log2 p) steps; every network",
    .source = "Bruck, Ho, Kipnis, Upfal, Weathersby 1997",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .predict =
        [](const Setting& setting) {
          const Rank p = setting.topology.nodes();
          return Prediction{.startups = static_cast<double>(log2_ceiling(p))};
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_bruck(node, call.arguments.reduction, call.input,
                                         call.output.all());
        },
};

}  // namespace wormcube::algorithms
