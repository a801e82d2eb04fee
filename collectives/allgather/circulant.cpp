// All-gather along a circulant graph.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/circulant.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/own_block.hpp"
#include "wormcube/collectives/circulant.hpp"
#include "wormcube/collectives/torus_handover.hpp"

namespace wormcube {

void allgather_circulant(Node& node, ConstBlocks mine, Blocks all, Rank packets) {
  require_packets("allgather_circulant", packets, 1);
  require_allgather("allgather_circulant", node, mine, all);
  keep_own(node, mine, all);
  allgather_copies(node, circulant_plans(node, packets), all);
}

namespace algorithms {

WORMCUBE_ALGORITHM(allgather_circulant){
    .operation = operations::allgather,
    .name = "circulant",
    .summary = "p broadcasts in packets at once, ceil(log2 p) rounds of shifts; every network",
    .source = "Traeff, arXiv 2312.11236 (ACM TOPC), 2205.10072",
    .ports = Ports::one,
    .contention_free = false,
    .exactly_once = true,
    .remark = "free of contention on complete networks",
    .options = {circulant_all_packets_option()},

    .predict = [](const Setting& setting) -> Prediction {
      const auto packets = circulant_packets(setting.options);
      return allgather_cost(circulant_all_cost(setting.topology, packets, false));
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_circulant(node, call.input, call.output,
                                        circulant_packets(call.options));
        },
    .parts = circulant_parts,
};

}  // namespace algorithms

}  // namespace wormcube
