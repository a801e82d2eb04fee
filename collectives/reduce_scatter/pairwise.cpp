// Reduce-scatter by single blocks, straight to their nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/collectives/kit/partial.hpp"
#include "wormcube/collectives/reduce_scatter/programs.hpp"

#include <algorithm>

namespace wormcube {

namespace {

/// All nodes' blocks q combined in the order of ranks, at node q: in step t node r sends its block
/// for node r - t. Blocks from the nodes above and from those below make two partial results.
///
/// Network  any, of any p; one-port.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1) + tc m p, for p > 2.
/// Links    shift_link_load(t) messages share a link in step t: one on hypercubes and complete
///          networks.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.2 with the permutations of 4.6.
void reduce_scatter_pairwise(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank p = node.size(), r = node.rank();
  const Memory incoming = node.memory(call.output.all().size()),
               lower = node.memory(call.output.all().size());
  Partial above(node, reduction, call.input[r], call.output.all()),
      below(node, reduction, lower, lower);
  for (Rank t = 1; t < p; ++t) {
    const Rank from = mod(r + t, p), to = mod(r - t, p);
    node.step({send(to, call.input[to]), receive(from, from == 0 ? lower : incoming)});
    if (from > r) {
      above.before(incoming);
    } else if (from > 0) {
      below.before(incoming);
    }
  }
  if (r > 0) above.after(below.value());
  above.settle();
}

Prediction predict_reduce_scatter_pairwise(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  Prediction prediction{p - 1.0, p - 1.0, 0};
  prediction.combined_blocks = p > 2 ? p : p - 1;
  predict_shifts(prediction, setting.topology);
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHMS(reduce_scatter_pairwise) = with_variant(
    {
        .operation = operations::reduce_scatter,
        .name = "pairwise",
        .summary = "in step t each node sends a block to the node t ranks before it; every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2 and 4.6",
        .exactly_once = true,
        .remark = "free of contention on hypercubes and complete networks",
        .predict = predict_reduce_scatter_pairwise,
        .program = reduce_scatter_pairwise,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::reduce_scatterv;
      uneven.predict = startups_of<predict_reduce_scatter_pairwise>;
    });

}  // namespace wormcube
