// Broadcast on a hypercube with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/hypercube_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/broadcast/recursive_doubling.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>

namespace wormcube {

namespace algorithms {
extern const Algorithm broadcast_hypercube_all_port;
}

void broadcast_hypercube_all_port(Node& node, Span message, Rank root) {
  require_network(algorithms::broadcast_hypercube_all_port, node.topology());
  require_root("broadcast_hypercube_all_port", node.size(), root);
  const int d = node.topology().dimensions();
  if (d == 0) return;
  together(node, d, [&](int j, Node& own) {
    broadcast_rotated_doubling(own, part(message, j, d), root, j);
  });
}

namespace algorithms {

WORMCUBE_ALGORITHM(broadcast_hypercube_all_port){
    .operation = operations::broadcast,
    .name = "hypercube-all-port",
    .summary = "d rotated binomial trees on all links at once; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.7.2",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"1.16", "", "hypercube:6"}},
    .needs = {needs::hypercube()},
    .instead = {"recursive-doubling", "halving"},
    .predict = [](const Setting& setting) -> Prediction {
      const double once = setting.topology.nodes() > 1 ? 1 : 0;
      return {.startups = setting.topology.dimensions(),
              .transmission_blocks = once,
              .rearranged_blocks = 0,
              .working_blocks = 0,
              .link_load = once,
              .contended_blocks = once};
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::broadcast_hypercube_all_port(node, call.output.all(), call.arguments.root);
        },
    .parts = [](const Setting& setting) { return std::max(1, setting.topology.dimensions()); },
};

}  // namespace algorithms

}  // namespace wormcube
