// Total exchange on a ring or a line: every block goes the shorter way.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/ring_bidirectional.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/one_way.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_ring_bidirectional;
}

void alltoall_ring_bidirectional(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_ring_bidirectional, node.topology());
  require_exchange("alltoall_ring_bidirectional", node.size(), out, in);
  const Rank p = node.size(), r = node.rank();
  node.local([&] { copy(out[r], in[r]); });
  alltoall_one_way(node, {+1, p / 2}, out, in);
  alltoall_one_way(node, {-1, (p - 1) / 2}, out, in);
}

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_ring_bidirectional){
    .operation = operations::alltoall,
    .name = "ring-bidirectional",
    .summary = "neighbours, every block the shorter way, one way after the other; a line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.1, remark",
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"5.2", "", "ring:8"}, {"5.2", "", "line:8"}},
    .needs = {needs::line_or_ring()},
    .instead = {"mesh", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const std::int64_t p = setting.topology.nodes();
      const std::int64_t blocks = p * p / 4;
      return {p - 1.0, static_cast<double>(blocks), 0, 0};
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_ring_bidirectional(node, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
