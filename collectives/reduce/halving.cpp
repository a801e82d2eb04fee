// Reduction to one node by interval halving.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce/halving.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/partial.hpp"
#include "wormcube/collectives/reduce/tree.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>

namespace wormcube {

void reduce_halving(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                    Rank root) {
  require_reduction_to_root("reduce_halving", node, reduction, mine, result, root);
  const Rank r = node.rank();
  const std::vector<Halving> levels = halvings(node.size(), root, r);
  // Half of the nodes only send: they need no memory of their own.
  const bool combines = std::ranges::any_of(
      levels, [&](const Halving& level) { return !level.alone() && r == level.holder; });
  const Memory incoming = node.memory(combines ? mine.size() : 0);
  const Memory own = node.memory(combines && r != root ? mine.size() : 0);
  Partial partial(node, reduction, mine, r == root ? result : own.span());
  // Invariant: the holder of each interval done has what the interval's nodes gave, in their order.
  for (auto at = levels.rbegin(); at != levels.rend(); ++at) {
    const Halving& level = *at;
    if (level.alone() || (r != level.holder && r != level.heir)) {
      node.step();
    } else if (r == level.holder) {
      node.step({receive(level.heir, incoming)});
      partial.join(incoming, !level.heir_is_higher());
    } else {
      node.step({send(level.holder, partial.value())});
    }
  }
  if (r == root) partial.settle();
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_halving){
    .operation = operations::reduce,
    .name = "halving",
    .summary = "halves of intervals of ranks, nearest first; every network, any root",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.1, Fig. 4.3, problem 4.1",
    .exactly_once = true,
    .remark = "free of contention in one dimension, and on hypercubes",
    .rows = {{"1.20", "", "ring:8"}, {"1.20", "", "line:7"}, {"1.20", "", "tree:8"}},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double steps = log2_ceiling(topology.nodes());
      Prediction prediction{steps, steps, 0};
      prediction.combined_blocks = steps;
      predict_contention(prediction, topology,
                         halving_messages(topology.nodes(), setting.arguments.root, false));
      return prediction;
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_halving(node, call.arguments.reduction, call.input.all(),
                                   call.output.all(), call.arguments.root);
        },
};

}  // namespace algorithms

}  // namespace wormcube
