// Reduce-scatter by single blocks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/pairwise.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/shift.hpp"
#include "wormcube/collectives/partial.hpp"
#include "wormcube/collectives/reduce_scatter/require.hpp"

#include <algorithm>

namespace wormcube {

void reduce_scatter_pairwise(Node& node, const Reduction& reduction, ConstBlocks in, Span out) {
  require_reduce_scatter("reduce_scatter_pairwise", node, reduction, in, out);
  const Rank p = node.size(), r = node.rank();
  const Memory incoming = node.memory(out.size()), lower = node.memory(out.size());
  Partial above(node, reduction, in[r], out), below(node, reduction, lower, lower);
  for (Rank t = 1; t < p; ++t) {
    const Rank from = mod(r + t, p), to = mod(r - t, p);
    node.step({send(to, in[to]), receive(from, from == 0 ? lower : incoming)});
    if (from > r) {
      above.before(incoming);
    } else if (from > 0) {
      below.before(incoming);
    }
  }
  if (r > 0) above.after(below.value());
  above.settle();
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_scatter_pairwise){
    .operation = operations::reduce_scatter,
    .name = "pairwise",
    .summary = "step t sends the block for the node t ranks before; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2 and 4.6",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      Prediction prediction{p - 1.0, p - 1.0, 0};
      prediction.combined_blocks = p > 2 ? p : p - 1;
      predict_shifts(prediction, setting.topology);
      return prediction;
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_pairwise(node, call.arguments.reduction, call.input,
                                            call.output.all());
        },
};

}  // namespace algorithms

}  // namespace wormcube
