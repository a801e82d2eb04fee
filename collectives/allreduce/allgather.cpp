// All-reduce as an all-gather and a local reduction.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/allgather.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/ring.hpp"
#include "wormcube/collectives/partial.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

void allreduce_allgather(Node& node, const Reduction& reduction, ConstSpan mine, Span result) {
  require_reduction("allreduce_allgather", node, reduction, mine, result);
  const Rank p = node.size();
  const Memory memory = node.memory(mine.size() * static_cast<Bytes>(p), Purpose::blocks);
  const Blocks all(memory, p);
  allgather_ring(node, ConstBlocks(mine, 1), all);
  Partial partial(node, reduction, all[0], result);
  for (Rank q = 1; q < p; ++q) partial.before(all[q]);
  partial.settle();
}

namespace algorithms {

WORMCUBE_ALGORITHM(allreduce_allgather){
    .operation = operations::allreduce,
    .name = "allgather",
    .summary = "all blocks once round, combined at each node; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3, problem 4.6 (i)",
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"3.3", "", "ring:8"}, {"3.3", "", "line:7"}},
    .needs = {needs::line_or_ring()},
    .instead = {"recursive-doubling", "mesh", "reduce-broadcast"},
    .predict =
        [](const Setting& setting) {
          const double p = setting.topology.nodes();
          Prediction prediction{p - 1, p - 1, 0, p};
          prediction.combined_blocks = p - 1;
          return prediction;
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_allgather(node, call.arguments.reduction, call.input.all(),
                                        call.output.all());
        },
};

}  // namespace algorithms

}  // namespace wormcube
