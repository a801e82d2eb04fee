// Total exchange on a ring or a line: bundles travel one way and shrink.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/one_way.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/hops.hpp"

namespace wormcube {

namespace {

/// Total exchange: node r's block q ends as node q's block r.
///
/// Network  one ring or line of any p; one-port. On a line the message from the last node to the
///          first returns over the reverse links, which are idle otherwise.
/// Cost     p - 1 steps; step t moves p - t blocks: (ts + tw m p/2)(p - 1).
/// Links    each link carries one message in a step.
void alltoall_ring(Node& node, const Call& call) {
  const Rank r = node.rank();
  node.local([&] { copy(call.input[r], call.output[r]); });
  alltoall_one_way(node, {+1, node.size() - 1}, call.input, call.output);
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_ring){
    .operation = operations::alltoall,
    .name = "ring",
    .summary =
        "shrinking bundles travel from neighbour to neighbour in one direction; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.1, Eq. 4.7",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::line_or_ring()},
    .instead = {"mesh", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double p = topology.nodes();
      Prediction prediction{p - 1, p * (p - 1) / 2, 0, 0};
      prediction.hops = hops_of_rounds(topology);
      return prediction;
    },
    .program = alltoall_ring,
};

}  // namespace wormcube
