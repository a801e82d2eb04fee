// Total exchange in log p steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/hypercube_combine.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/bit_exchange.hpp"
#include "wormcube/collectives/pattern_load.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_hypercube_combine;
}

void alltoall_hypercube_combine(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_hypercube_combine, node.topology());
  require_exchange("alltoall_hypercube_combine", node.size(), out, in);
  if (node.size() == 1) {
    node.local([&] { copy(out[0], in[0]); });
    return;
  }
  alltoall_bit_exchange(node, log2_ceiling(node.size()), 0, 1, out, in);
}

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_hypercube_combine){
    .operation = operations::alltoall,
    .name = "hypercube-combine",
    .summary = "bundles of p/2 blocks change sides bit by bit; 2^d nodes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3, Eq. 4.9",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .rows = {{"5.6", "", "hypercube:4"}, {"5.10", "", "mesh:4x4"}, {"5.14", "", "hypercube:4"}},
    .needs = {needs::nodes_power_of_two()},
    .instead = {"bruck", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const int bits = log2_ceiling(p);
      PatternSteps steps(setting.topology);
      for (int b = 0; b < bits; ++b)
        steps.add_permutation(p / 2.0, [b](Rank r) { return r ^ 1 << b; });
      return steps.with_loads({bits, bits * (p / 2.0), 1.0 * bits * p, bits > 0 ? p : 0});
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_hypercube_combine(node, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
