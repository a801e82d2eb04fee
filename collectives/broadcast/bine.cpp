// Broadcast along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bine.hpp"

#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

/// Broadcast: the root's message ends on every node. Who has it gives it to its partner of swing's
/// step, far ones first.
///
/// Network  ring or torus of sides 2^L; one-port.
/// Cost     (ts + tw m) log2 p.
/// Links    each link carries one message in a step.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the ways after the authors'
///          program, far nodes first on tori.
void broadcast_bine(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const BineTree tree(node, root);
  const int taken = tree.taken();
  for (int bit = tree.steps() - 1; bit >= 0; --bit) {
    if (bit > taken) {
      node.step();
    } else if (bit == taken) {
      node.step({receive(tree.move(bit), call.output.all())});
    } else {
      node.step({send(tree.move(bit), call.output.all())});
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_bine){
    .operation = operations::broadcast,
    .name = "bine",
    .summary = "a binomial tree along the ways of swing, far nodes first; tori of sides 2^d",
    .source = "De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311 (far nodes first)",
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
    .program = broadcast_bine,
};

}  // namespace wormcube
