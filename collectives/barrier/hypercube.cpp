// Barrier as an all-reduce of no words, by recursive doubling.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allreduce/recursive_doubling.hpp"

namespace wormcube::algorithms {

WORMCUBE_ALGORITHM(barrier_hypercube){
    .operation = operations::barrier,
    .name = "hypercube",
    .summary = "an all-reduce of nothing by recursive doubling; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3",
    .remark = "free of contention on hypercubes and complete networks; messages are empty",
    .rows = {{"3.7", "", "hypercube:6"}},
    .predict =
        [](const Setting& setting) {
          const std::vector<Messages> messages =
              recursive_doubling_messages(setting.topology.nodes());
          Prediction prediction{static_cast<double>(messages.size()), 0, 0};
          predict_contention(prediction, setting.topology, messages);
          prediction.contended_blocks = 0;
          return prediction;
        },
    .program =
        [](Node& node, const Call& /*call*/) {
          const Reduction nothing{.name = "nothing",
                                  .apply = [](const auto*, const auto*, auto*, std::size_t) {}};
          wormcube::allreduce_recursive_doubling(node, nothing, {}, {});
        },
};

}  // namespace wormcube::algorithms
