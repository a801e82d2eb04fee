// Total exchange on a ring or a line: one direction, then the other.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/one_way.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/hops.hpp"

namespace wormcube {

namespace {

/// Total exchange: node r's block q ends as node q's block r. Every block takes the shorter
/// direction: first all that go '+', to the nodes up to floor(p/2) on, then all that go '-'.
///
/// Network  one ring or line of any p; one-port. On a line messages from one end to the other
///          return over the reverse links, which are idle otherwise.
/// Cost     p - 1 steps, floor(p^2/4) blocks: ts(p - 1) + tw m floor(p^2/4).
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.5.1, remark (which calls the one-directional
///          algorithm optimal: that holds only among one-directional ones).
void alltoall_ring_bidirectional(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank();
  node.local([&] { copy(call.input[r], call.output[r]); });
  alltoall_one_way(node, {+1, p / 2}, call.input, call.output);
  alltoall_one_way(node, {-1, (p - 1) / 2}, call.input, call.output);
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_ring_bidirectional){
    .operation = operations::alltoall,
    .name = "ring-bidirectional",
    .summary =
        "every block takes the shorter direction, one direction after the other; a line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.1, remark",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::line_or_ring()},
    .instead = {"mesh", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const std::int64_t p = setting.topology.nodes();
      const std::int64_t blocks = p * p / 4;
      Prediction prediction{p - 1.0, static_cast<double>(blocks), 0, 0};
      prediction.hops = hops_of_rounds(setting.topology);
      return prediction;
    },
    .program = alltoall_ring_bidirectional,
};

}  // namespace wormcube
