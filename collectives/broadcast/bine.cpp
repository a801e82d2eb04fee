// Broadcast along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/bine.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/bine.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm broadcast_bine;
}

void broadcast_bine(Node& node, Span message, Rank root) {
  require_network(algorithms::broadcast_bine, node.topology());
  require_root("broadcast_bine", node.size(), root);
  const BineTree tree(node, root);
  const int taken = tree.taken();
  for (int bit = tree.steps() - 1; bit >= 0; --bit) {
    if (bit > taken) {
      node.step();
    } else if (bit == taken) {
      node.step({receive(tree.move(bit), message)});
    } else {
      node.step({send(tree.move(bit), message)});
    }
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(broadcast_bine){
    .operation = operations::broadcast,
    .name = "bine",
    .summary = "a binomial tree along the ways of swing, far nodes first; tori of sides 2^d",
    .source = "De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311 (far nodes first)",
    .ports = Ports::one,
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::rings_of_powers_of_two()},
    .instead = {"halving", "mesh"},

    .predict = [](const Setting& setting) -> Prediction {
      const double steps = log2_ceiling(setting.topology.nodes());
      return {.startups = steps,
              .transmission_blocks = steps,
              .rearranged_blocks = 0,
              .working_blocks = 0,
              .link_load = steps > 0 ? 1 : 0,
              .contended_blocks = steps};
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::broadcast_bine(node, call.output.all(), call.arguments.root);
        },
};

}  // namespace algorithms

}  // namespace wormcube
