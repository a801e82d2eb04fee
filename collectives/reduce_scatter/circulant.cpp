// Reduce-scatter along a circulant graph.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/circulant.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/circulant.hpp"
#include "wormcube/collectives/reduce_scatter/require.hpp"

namespace wormcube {

void reduce_scatter_circulant(Node& node, const Reduction& reduction, ConstBlocks in, Span out,
                              Rank packets) {
  require_packets("reduce_scatter_circulant", packets, 1);
  require_reduce_scatter("reduce_scatter_circulant", node, reduction, in, out);
  require_commutative("reduce_scatter_circulant", reduction);
  reduce_scatter_copies(node, circulant_plans(node, packets), reduction, in, out);
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_scatter_circulant){
    .operation = operations::reduce_scatter,
    .name = "circulant",
    .summary = "p reductions in packets at once, ceil(log2 p) rounds of shifts; every network",
    .source = "Traeff, arXiv 2312.11236 (ACM TOPC), 2205.10072",
    .ports = Ports::one,
    .contention_free = false,
    .exactly_once = true,
    .remark = "free of contention on complete networks",
    .options = {circulant_all_packets_option()},
    .needs_commutative = true,
    .predict = [](const Setting& setting) -> Prediction {
      const auto packets = circulant_packets(setting.options);
      return circulant_all_cost(setting.topology, packets, true);
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_circulant(node, call.arguments.reduction, call.input,
                                             call.output.all(), circulant_packets(call.options));
        },
    .parts = circulant_parts,
};

}  // namespace algorithms

}  // namespace wormcube
