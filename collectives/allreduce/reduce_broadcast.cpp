// All-reduce as a reduction to one node and a broadcast.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/reduce_broadcast.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce/halving.hpp"
#include "wormcube/collectives/reduce/tree.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

void allreduce_reduce_broadcast(Node& node, const Reduction& reduction, ConstSpan mine,
                                Span result) {
  require_reduction("allreduce_reduce_broadcast", node, reduction, mine, result);
  constexpr Rank root = 0;
  const Rank r = node.rank();
  reduce_halving(node, reduction, mine, r == root ? result : Span(), root);
  for (const Halving& level : halvings(node.size(), root, r)) {
    if (level.alone() || (r != level.holder && r != level.heir)) {
      node.step();
    } else if (r == level.holder) {
      node.step({send(level.heir, result)});
    } else {
      node.step({receive(level.holder, result)});
    }
  }
}

std::vector<Messages> reduce_broadcast_messages(Rank p) {
  std::vector<Messages> messages = halving_messages(p, 0, false);
  for (std::size_t t = messages.size(); t-- > 0;) {
    Messages& step = messages.emplace_back();
    for (const Message& m : messages[t]) step.push_back({m.to, m.from, m.blocks});
  }
  return messages;
}

namespace algorithms {

WORMCUBE_ALGORITHM(allreduce_reduce_broadcast){
    .operation = operations::allreduce,
    .name = "reduce-broadcast",
    .summary = "interval halving to node 0 and back; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3, problem 4.6 (ii)",
    .exactly_once = true,
    .remark = "free of contention in one dimension, and on hypercubes",
    .rows = {{"3.1", "", "ring:8"},
             {"3.1", "", "line:7"},
             {"3.1", "", "hypercube:6"},
             {"3.5", "", "ring:1024"}},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const double steps = log2_ceiling(p);
      Prediction prediction{2 * steps, 2 * steps, 0};
      prediction.combined_blocks = steps;
      predict_contention(prediction, setting.topology, reduce_broadcast_messages(p));
      return prediction;
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_reduce_broadcast(node, call.arguments.reduction, call.input.all(),
                                               call.output.all());
        },
};

}  // namespace algorithms

}  // namespace wormcube
