// Total exchange with uneven blocks: step i sends to the node i ranks on.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/shift.hpp"

#include "wormcube/collectives/algorithm.hpp"

namespace wormcube::algorithms {

// A step lasts as long as its largest message, which depends on all sizes: only start-ups have a
// formula.
WORMCUBE_ALGORITHM(alltoallv_shift){
    .operation = operations::alltoallv,
    .name = "shift",
    .summary = "step i sends to the node i ranks on; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3 and 4.6",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .rows = {{"5.7", "", "complete:7"}},
    .predict =
        [](const Setting& setting) {
          return Prediction{.startups = setting.topology.nodes() - 1.0};
        },
    .program = [](Node& node,
                  const Call& call) { wormcube::alltoall_shift(node, call.input, call.output); },
};

}  // namespace wormcube::algorithms
