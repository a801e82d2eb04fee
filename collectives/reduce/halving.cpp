// Reduction to one node by interval halving: any number of nodes, any root.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/halving.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/partial.hpp"
#include "wormcube/collectives/reduce/programs.hpp"

#include <algorithm>

namespace wormcube {

/// All nodes' blocks combined in the order of ranks, at the root.
///
/// The dual of broadcast_halving: intervals of ranks are halved until they are single nodes; then,
/// smallest intervals first, the first node of one half sends what the half has combined to the
/// node of the other half that is nearer to the root.
///
/// Network  any, of any p; one-port.
/// Cost     c = ceil(log2 p) steps of one block, one combination each: (ts + tw m + tc m) c.
/// Links    free of contention on one line, ring, tree or complete network, and on hypercubes.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.1.1, Fig. 4.3, Algorithm 4.3. The order of ranks
///          for any operator and root is ours.
void reduce_halving(Node& node, const Call& call, Rank root) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank r = node.rank();
  const std::vector<Halving> levels = halvings(node.size(), root, r);
  // Half of the nodes only send: they need no memory of their own.
  const bool combines = std::ranges::any_of(
      levels, [&](const Halving& level) { return !level.alone() && r == level.holder; });
  const Memory incoming = node.memory(combines ? call.input.all().size() : 0);
  const Memory own = node.memory(combines && r != root ? call.input.all().size() : 0);
  Partial partial(node, reduction, call.input.all(), r == root ? call.output.all() : own.span());
  // Invariant: the holder of each interval done has the combination of the interval's nodes, in
  // their order.
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

WORMCUBE_ALGORITHM(reduce_halving){
    .operation = operations::reduce,
    .name = "halving",
    .summary = "interval halving of the ranks, nearest first; every network, any root",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.1, Fig. 4.3, problem 4.1",
    .exactly_once = true,
    .remark = "free of contention in one dimension, and on hypercubes",
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double steps = log2_ceiling(topology.nodes());
      Prediction prediction{steps, steps, 0};
      prediction.combined_blocks = steps;
      predict_contention(prediction, topology,
                         halving_messages(topology.nodes(), setting.arguments.root, false));
      return prediction;
    },
    .program = [](Node& node,
                  const Call& call) { reduce_halving(node, call, call.arguments.root); },
};

}  // namespace wormcube
