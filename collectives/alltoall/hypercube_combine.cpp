// Total exchange in log p steps: one label bit after another.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/bit_exchange.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"

namespace wormcube {

namespace {

/// Total exchange: node r's block q ends as node q's block r. In step b every node sends the node
/// whose label differs in bit b all that it holds for nodes with that bit.
///
/// Network  any of p = 2^d nodes; one-port.
/// Cost     d steps of p/2 blocks; p blocks are rearranged before each:
///          (ts + tw m p/2) log p + tr m p log p if links are not shared.
/// Links    free of contention on hypercubes and complete networks. On an open mesh of s x s bit b
///          of a coordinate loads a link with 2^b messages: ts log p + tw m p (s - 1).
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.5.3, Eq. 4.9; problems 4.21 (rearrangement), 4.24
///          (meshes).
void alltoall_hypercube_combine(Node& node, const Call& call) {
  if (node.size() == 1) {
    node.local([&] { copy(call.input[0], call.output[0]); });
    return;
  }
  alltoall_bit_exchange(node, log2_ceiling(node.size()), 0, 1, call.input, call.output);
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_hypercube_combine){
    .operation = operations::alltoall,
    .name = "hypercube-combine",
    .summary = "partners swap bundles of p/2 blocks, bit by bit; 2^d nodes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3, Eq. 4.9",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
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
    .program = alltoall_hypercube_combine,
};

}  // namespace wormcube
