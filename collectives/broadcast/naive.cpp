// Broadcast from one node to every other in turn.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/hops.hpp"

namespace wormcube {

namespace {

/// Broadcast: the root's message ends on every node, which gets it from the root itself.
///
/// Network  any; one-port.
/// Cost     p - 1 steps of the whole message: (ts + tw m) (p - 1).
/// Links    one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.1: the naive approach.
void broadcast_naive(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const Rank p = node.size(), r = node.rank();
  for (Rank t = 1; t < p; ++t) {
    const Rank q = mod(root + t, p);
    if (r == root) {
      node.step({send(q, call.output.all())});
    } else if (r == q) {
      node.step({receive(root, call.output.all())});
    } else {
      node.step();
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_naive){
    .operation = operations::broadcast,
    .name = "naive",
    .summary = "the root sends to one node after another; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1",
    .contention_free = true,
    .exactly_once = true,
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      return {.startups = p - 1,
              .transmission_blocks = p - 1,
              .rearranged_blocks = 0,
              .working_blocks = 0,
              .link_load = p > 1 ? 1 : 0,
              .link_blocks = p - 1,
              .hops = hops_to_all(setting.topology, setting.arguments.root)};
    },
    .selection = Selection::by_name,
    .program = broadcast_naive,
};

}  // namespace wormcube
