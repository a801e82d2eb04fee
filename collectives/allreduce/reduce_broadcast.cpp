// All-reduce as a reduction to one node and a broadcast.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/halving.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/collectives/reduce/programs.hpp"

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, on every node: reduce_halving to node 0, then
/// the same messages backwards.
///
/// Network  any, of any p; one-port.
/// Cost     c = ceil(log2 p): 2 (ts + tw m) c + tc m c.
/// Links    free of contention in one dimension and on hypercubes.
void allreduce_reduce_broadcast(Node& node, const Call& call) {
  constexpr Rank root = 0;
  const Rank r = node.rank();
  reduce_halving(node, call, root);
  for (const Halving& level : halvings(node.size(), root, r)) {
    if (level.alone() || (r != level.holder && r != level.heir)) {
      node.step();
    } else if (r == level.holder) {
      node.step({send(level.heir, call.output.all())});
    } else {
      node.step({receive(level.holder, call.output.all())});
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

WORMCUBE_ALGORITHM(allreduce_reduce_broadcast){
    .operation = operations::allreduce,
    .name = "reduce-broadcast",
    .summary = "interval halving to node 0 and back; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3, problem 4.6 (ii)",
    .exactly_once = true,
    .remark = "free of contention in one dimension, and on hypercubes",
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const double steps = log2_ceiling(p);
      Prediction prediction{2 * steps, 2 * steps, 0};
      prediction.combined_blocks = steps;
      predict_contention(prediction, setting.topology, reduce_broadcast_messages(p));
      return prediction;
    },
    .program = allreduce_reduce_broadcast,
};

}  // namespace wormcube
