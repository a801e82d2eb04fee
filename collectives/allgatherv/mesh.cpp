// All-gather with uneven blocks: the ring algorithm dimension by dimension; meshes and tori.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/mesh.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

// A step lasts as long as its largest message, which depends on all sizes: only start-ups have a
// formula.
WORMCUBE_ALGORITHM(allgatherv_mesh){
    .operation = operations::allgatherv,
    .name = "mesh",
    .summary = "the ring algorithm dimension by dimension; meshes and tori",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.2, Algorithm 4.6",
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"2.3", "", "mesh:3x5"}},
    .needs = {needs::lines_and_rings()},
    .instead = {"bruck"},
    .predict =
        [](const Setting& setting) {
          double steps = 0;
          for (const Rank size : setting.topology.sizes()) steps += size - 1;
          return Prediction{.startups = steps};
        },
    .program = [](Node& node,
                  const Call& call) { wormcube::allgather_mesh(node, call.input, call.output); },
};

}  // namespace wormcube::algorithms
