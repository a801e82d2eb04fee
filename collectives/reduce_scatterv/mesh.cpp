// Reduce-scatter of uneven blocks: mesh.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/mesh.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

// The other costs depend on all sizes: only start-ups have a formula.
WORMCUBE_ALGORITHM(reduce_scatterv_mesh){
    .operation = operations::reduce_scatterv,
    .name = "mesh",
    .summary = "the ring algorithm dimension by dimension, the last first; meshes and tori",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.2, problem 4.4",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::lines_and_rings()},
    .instead = {"hypercube", "bruck"},
    .predict =
        [](const Setting& setting) {
          Prediction prediction{.startups = 0};
          for (const Rank size : setting.topology.sizes()) *prediction.startups += size - 1;
          return prediction;
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_mesh(node, call.arguments.reduction, call.input,
                                        call.output.all());
        },
};

}  // namespace wormcube::algorithms
