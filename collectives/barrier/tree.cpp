// Barrier as an all-reduce of no words: to node 0 and back.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allreduce/reduce_broadcast.hpp"

namespace wormcube::algorithms {

WORMCUBE_ALGORITHM(barrier_tree){
    .operation = operations::barrier,
    .name = "tree",
    .summary = "interval halving to node 0 and back; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3",
    .remark = "free of contention in one dimension, and on hypercubes; messages are empty",
    .rows = {{"3.7", "", "line:8"}},
    .predict =
        [](const Setting& setting) {
          const Rank p = setting.topology.nodes();
          Prediction prediction{2.0 * log2_ceiling(p), 0, 0};
          predict_contention(prediction, setting.topology, reduce_broadcast_messages(p));
          prediction.contended_blocks = 0;
          return prediction;
        },
    .program =
        [](Node& node, const Call& /*call*/) {
          const Reduction nothing{.name = "nothing",
                                  .apply = [](const auto*, const auto*, auto*, std::size_t) {}};
          wormcube::allreduce_reduce_broadcast(node, nothing, {}, {});
        },
};

}  // namespace wormcube::algorithms
