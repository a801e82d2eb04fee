// Reduce-scatter with uneven blocks along a circulant graph.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/circulant.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/circulant.hpp"

namespace wormcube::algorithms {

WORMCUBE_ALGORITHM(reduce_scatterv_circulant){
    .operation = operations::reduce_scatterv,
    .name = "circulant",
    .summary = "p reductions in packets at once, rounds of about the average; every network",
    .source = "Traeff, arXiv 2312.11236 (ACM TOPC), 2205.10072",
    .ports = Ports::one,
    .contention_free = false,
    .exactly_once = true,
    .remark = "free of contention on complete networks",
    .options = {circulant_all_packets_option()},
    .needs_commutative = true,
    .predict = predict_circulant_uneven,
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_circulant(node, call.arguments.reduction, call.input,
                                             call.output.all(), circulant_packets(call.options));
        },
    .parts = circulant_parts,
};

}  // namespace wormcube::algorithms
