// Broadcast along a binomial tree of cyclically renumbered ranks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

/// Broadcast: the root's message ends on every node. Nodes are renumbered from the root on,
/// cyclically; recursive doubling, the highest bit first, skips partners that do not exist.
///
/// Network  any, of any p; one-port.
/// Cost     ceil(log2 p) steps of the whole message: (ts + tw m) ceil(log2 p).
/// Links    free of contention on one line, ring or complete network.
void broadcast_binomial(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const Rank p = node.size(), v = mod(node.rank() - root, p);  // this node's number from the root
  for (int bit = log2_ceiling(p) - 1; bit >= 0; --bit) {
    const Rank distance = 1 << bit, below = v % (2 * distance);
    if (below == 0 && v + distance < p) {
      node.step({send(mod(node.rank() + distance, p), call.output.all())});
    } else if (below == distance) {
      node.step({receive(mod(node.rank() - distance, p), call.output.all())});
    } else {
      node.step();
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_binomial){
    .operation = operations::broadcast,
    .name = "binomial",
    .summary = "recursive doubling, with ranks renumbered from the root; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1, problem 4.1",
    .exactly_once = true,
    .remark = "free of contention on one line, ring or complete network",
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double steps = log2_ceiling(topology.nodes());
      Prediction prediction{.startups = steps,
                            .transmission_blocks = steps,
                            .rearranged_blocks = 0,
                            .working_blocks = 0};
      const Shape shape = topology.dimensions() == 1 ? topology.factor(0).shape() : Shape::graph;
      if (shape == Shape::line || shape == Shape::ring || shape == Shape::complete) {
        prediction.link_load = steps > 0 ? 1 : 0;
        prediction.link_blocks = steps;
      }
      return prediction;
    },
    .program = broadcast_binomial,
};

}  // namespace wormcube
