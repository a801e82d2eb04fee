// Total exchange on a ring or a line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/ring.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/one_way.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_ring;
}

void alltoall_ring(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_ring, node.topology());
  require_exchange("alltoall_ring", node.size(), out, in);
  const Rank r = node.rank();
  node.local([&] { copy(out[r], in[r]); });
  alltoall_one_way(node, {+1, node.size() - 1}, out, in);
}

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_ring){
    .operation = operations::alltoall,
    .name = "ring",
    .summary = "neighbours in one direction, bundles that shrink; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.1, Eq. 4.7",
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"5.1", "", "ring:8"}, {"5.1", "", "line:8"}},
    .needs = {needs::line_or_ring()},
    .instead = {"mesh", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double p = topology.nodes();
      return {p - 1, p * (p - 1) / 2, 0, 0};
    },
    .program = [](Node& node,
                  const Call& call) { wormcube::alltoall_ring(node, call.input, call.output); },
};

}  // namespace algorithms

}  // namespace wormcube
