// Total exchange with uneven blocks: every pair of nodes meets once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/hypercube_pairwise.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

// A step lasts as long as its largest message, which depends on all sizes: only start-ups have a
// formula.
WORMCUBE_ALGORITHM(alltoallv_hypercube_pairwise){
    .operation = operations::alltoallv,
    .name = "hypercube-pairwise",
    .summary = "every pair of nodes meets once; 2^d nodes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3, Algorithm 4.10",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .rows = {{"5.7", "", "hypercube:4"}},
    .needs = {needs::nodes_power_of_two()},
    .instead = {"shift"},
    .predict =
        [](const Setting& setting) {
          return Prediction{.startups = setting.topology.nodes() - 1.0};
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_hypercube_pairwise(node, call.input, call.output);
        },
};

}  // namespace wormcube::algorithms
