// Exclusive prefix reduction across the labels' bits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scan/hypercube.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

WORMCUBE_ALGORITHM(exscan_hypercube){
    .operation = operations::exscan,
    .name = "hypercube",
    .summary = "partners across one bit swap what their groups have; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3, Algorithm 4.9, problem 4.10",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .rows = {{"3.8", "", "hypercube:6"}, {"3.9", "", "hypercube:6"}},
    .predict =
        [](const Setting& setting) {
          return scan_hypercube_cost(setting.topology, Prefix::exclusive);
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::scan_hypercube(node, call.arguments.reduction, call.input.all(),
                                   call.output.all(), Prefix::exclusive);
        },
};

}  // namespace wormcube::algorithms
