// All-gather on a ring or a line: each block travels once round.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/holding.hpp"
#include "wormcube/collectives/kit/hops.hpp"

namespace wormcube {

/// All-gather (all-to-all broadcast): node r gives one block, every node ends with all p blocks in
/// the order of ranks.
///
/// Network  one ring or line of any p; one-port. On a line the message from the last node to the
///          first returns over the reverse links, which are idle otherwise.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1), the least possible transmission.
/// Links    each link carries one message in a step.
void allgather_ring(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank();
  keep_own(node, call);
  if (p == 1) return;

  const Rank next = mod(r + 1, p), previous = mod(r - 1, p);
  const Move onward{0, node.topology().factor(0).hops(r, next)};
  // Invariant: before step t this node holds the blocks of r, r-1, .., r-t+1.
  for (Rank t = 1; t < p; ++t) {
    node.step({send(onward, call.output[mod(r - t + 1, p)]),
               receive(previous, call.output[mod(r - t, p)])});
  }
}

namespace {

Prediction predict_allgather_ring(const Setting& setting) {
  const double p = setting.topology.nodes();
  Prediction prediction{p - 1, p - 1, 0, 0};
  prediction.hops = hops_of_rounds(setting.topology);
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHMS(allgather_ring) = with_variant(
    {
        .operation = operations::allgather,
        .name = "ring",
        .summary = "each block travels once round; one line or ring",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.4, Eq. 4.2",
        .contention_free = true,
        .exactly_once = true,
        .needs = {needs::line_or_ring()},
        .instead = {"mesh", "bruck"},
        .predict = predict_allgather_ring,
        .program = allgather_ring,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::allgatherv;
      uneven.source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.4";
      uneven.predict = startups_of<predict_allgather_ring>;
    });

}  // namespace wormcube
