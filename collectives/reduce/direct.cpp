// Reduction to one node by single messages.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce/direct.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/partial.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

void reduce_direct(Node& node, const Reduction& reduction, ConstSpan mine, Span result, Rank root) {
  require_reduction_to_root("reduce_direct", node, reduction, mine, result, root);
  const Rank p = node.size(), r = node.rank();
  const Memory incoming = node.memory(r == root ? mine.size() : 0);
  Partial partial(node, reduction, mine, result);
  const auto from = [&](Rank source) {
    if (r == root) {
      node.step({receive(source, incoming)});
      partial.join(incoming, source < root);
    } else if (r == source) {
      node.step({send(root, mine)});
    } else {
      node.step();
    }
  };
  for (Rank source = root - 1; source >= 0; --source) from(source);
  for (Rank source = root + 1; source < p; ++source) from(source);
  if (r == root) partial.settle();
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_direct){
    .operation = operations::reduce,
    .name = "direct",
    .summary = "one message after the other to the root; every network, a baseline",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.1 (the dual of the naive way)",
    .contention_free = true,
    .exactly_once = true,
    .predict =
        [](const Setting& setting) {
          const double others = setting.topology.nodes() - 1.0;
          Prediction prediction{others, others, 0};
          prediction.combined_blocks = others;
          return prediction;
        },
    .chosen_by_auto = false,
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_direct(node, call.arguments.reduction, call.input.all(),
                                  call.output.all(), call.arguments.root);
        },
};

}  // namespace algorithms

}  // namespace wormcube
