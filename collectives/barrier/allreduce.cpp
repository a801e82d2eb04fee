// Barriers as all-reductions without data.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/programs.hpp"

namespace wormcube {

namespace {

template <void (*allreduce)(Node&, const Call&)>
void reduce_nothing(Node& node, const Call& call) {
  static const Arguments arguments{
      .reduction = {.name = "nothing",
                    .apply = [](const auto*, const auto*, auto*, std::size_t) {}}};
  allreduce(node, {ConstBlocks(ConstSpan(), 1), Blocks(Span(), 1), arguments, call.options});
}

/// The cost of empty messages.
Prediction cost_of_nothing(const Topology& topology, const std::vector<Messages>& messages) {
  Prediction prediction{static_cast<double>(messages.size()), 0, 0};
  predict_contention(prediction, topology, messages);
  prediction.link_blocks = 0;
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHMS(barrier_allreduce) = with_variant(
    {
        .operation = operations::barrier,
        .name = "hypercube",
        .summary = "an all-reduce without data, by recursive doubling; every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3",
        .remark = "free of contention on hypercubes and complete networks; messages are empty",
        .predict =
            [](const Setting& setting) {
              return cost_of_nothing(setting.topology,
                                     recursive_doubling_messages(setting.topology.nodes()));
            },
        .program = reduce_nothing<allreduce_recursive_doubling>,
    },
    [](Algorithm& tree) {
      tree.name = "tree";
      tree.summary = "interval halving to node 0 and back; every network";
      tree.remark = "free of contention in one dimension, and on hypercubes; messages are empty";
      tree.predict = [](const Setting& setting) {
        return cost_of_nothing(setting.topology,
                               reduce_broadcast_messages(setting.topology.nodes()));
      };
      tree.program = reduce_nothing<allreduce_reduce_broadcast>;
    });

}  // namespace wormcube
