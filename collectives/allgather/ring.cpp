// All-gather on a ring or a line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/ring.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/own_block.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm allgather_ring;
}

void allgather_ring(Node& node, ConstBlocks mine, Blocks all) {
  require_network(algorithms::allgather_ring, node.topology());
  require_allgather("allgather_ring", node, mine, all);
  const Rank p = node.size(), r = node.rank();
  keep_own(node, mine, all);
  if (p == 1) return;

  const Rank next = mod(r + 1, p), previous = mod(r - 1, p);
  const Move onward{0, node.topology().factor(0).hops(r, next)};
  // Invariant: before step t this node holds the blocks of r, r-1, .., r-t+1.
  for (Rank t = 1; t < p; ++t) {
    node.step({send(onward, all[mod(r - t + 1, p)]), receive(previous, all[mod(r - t, p)])});
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(allgather_ring){
    .operation = operations::allgather,
    .name = "ring",
    .summary = "each block travels once round; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.4, Eq. 4.2",
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"2.1", "", "ring:8"}, {"2.2", "", "line:8"}, {"2.11", "", "ring:8"}},
    .needs = {needs::line_or_ring()},
    .instead = {"mesh", "bruck"},
    .predict = [](const Setting& setting) -> Prediction {
      const double p = setting.topology.nodes();
      return {p - 1, p - 1, 0, 0};
    },
    .program = [](Node& node,
                  const Call& call) { wormcube::allgather_ring(node, call.input, call.output); },
};

}  // namespace algorithms

}  // namespace wormcube
