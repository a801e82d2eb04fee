// Broadcast from one node to each other in turn.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/naive.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

void broadcast_naive(Node& node, Span message, Rank root) {
  require_root("broadcast_naive", node.size(), root);
  const Rank p = node.size(), r = node.rank();
  for (Rank t = 1; t < p; ++t) {
    const Rank q = mod(root + t, p);
    if (r == root) {
      node.step({send(q, message)});
    } else if (r == q) {
      node.step({receive(root, message)});
    } else {
      node.step();
    }
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(broadcast_naive){
    .operation = operations::broadcast,
    .name = "naive",
    .summary = "the root sends to one node after another; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1",
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"1.1", "", "ring:8"}},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      return {.startups = p - 1,
              .transmission_blocks = p - 1,
              .rearranged_blocks = 0,
              .working_blocks = 0,
              .link_load = p > 1 ? 1 : 0,
              .contended_blocks = p - 1};
    },
    .chosen_by_auto = false,
    .program =
        [](Node& node, const Call& call) {
          wormcube::broadcast_naive(node, call.output.all(), call.arguments.root);
        },
};

}  // namespace algorithms

}  // namespace wormcube
