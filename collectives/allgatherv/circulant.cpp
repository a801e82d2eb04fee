// All-gather with uneven blocks along a circulant graph.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/circulant.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/circulant.hpp"

namespace wormcube::algorithms {

WORMCUBE_ALGORITHM(allgatherv_circulant){
    .operation = operations::allgatherv,
    .name = "circulant",
    .summary = "p broadcasts in packets at once, rounds of about the average; every network",
    .source = "Traeff, arXiv 2312.11236 (ACM TOPC), 2205.10072",
    .ports = Ports::one,
    .contention_free = false,
    .exactly_once = true,
    .remark = "free of contention on complete networks",
    .options = {circulant_all_packets_option()},

    .predict = predict_circulant_uneven,
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_circulant(node, call.input, call.output,
                                        circulant_packets(call.options));
        },
    .parts = circulant_parts,
};

}  // namespace wormcube::algorithms
