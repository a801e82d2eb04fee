// All-reduce as an all-gather and a local reduction.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/hops.hpp"
#include "wormcube/collectives/kit/partial.hpp"
#include "wormcube/collectives/kit/ring.hpp"

namespace wormcube {

namespace {

/// All nodes' blocks combined in the order of ranks, on every node: each node gets all blocks by
/// the ring all-gather and combines them from left to right, so that all have the same bits.
///
/// Network  one ring or line of any p; one-port.
/// Cost     (ts + tw m + tc m)(p - 1), and p blocks of memory.
/// Links    each carries one message in a step.
void allreduce_allgather(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank p = node.size();
  const Memory memory =
      node.memory(call.input.all().size() * static_cast<Bytes>(p), Purpose::blocks);
  const Blocks all(memory, p);
  node.local([&] { copy(call.input.all(), all[node.rank()]); });
  allgather_on_ring(node, Positions(node.topology(), false), all);
  Partial partial(node, reduction, all[0], call.output.all());
  for (Rank q = 1; q < p; ++q) partial.before(all[q]);
  partial.settle();
}

}  // namespace

WORMCUBE_ALGORITHM(allreduce_allgather){
    .operation = operations::allreduce,
    .name = "allgather",
    .summary = "all blocks travel around once and are combined at each node; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3, problem 4.6 (i)",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::line_or_ring()},
    .instead = {"recursive-doubling", "mesh", "reduce-broadcast"},
    .predict =
        [](const Setting& setting) {
          const double p = setting.topology.nodes();
          Prediction prediction{p - 1, p - 1, 0, p};
          prediction.combined_blocks = p - 1;
          prediction.hops = hops_of_rounds(setting.topology);
          return prediction;
        },
    .program = allreduce_allgather,
};

}  // namespace wormcube
