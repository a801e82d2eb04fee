// Total exchange among 2^d nodes: every pair of nodes meets once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/loads.hpp"

namespace wormcube {

namespace {

/// Total exchange: node r's block q ends as node q's block r.
///
/// Network  any of p = 2^d nodes; one-port.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1) if links are not shared, the least
///          possible transmission; nothing is rearranged.
/// Links    on a hypercube with e-cube routing each link carries one message in a step: all
///          messages of step t cross the same dimensions, in the same order. On a line or tree a
///          link carries 2^floor(log t) of them: tw m (p^2 - 1)/3. On an open mesh of s x s each
///          coordinate does so: tw m 3(p^1.5 - 1)/7.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.5.3, Algorithm 4.10, Eq. 4.10; problem 4.24
///          (poorer networks).
void alltoall_hypercube_pairwise(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank();
  node.local([&] { copy(call.input[r], call.output[r]); });
  for (Rank t = 1; t < p; ++t) {
    const Rank partner = r ^ t;
    node.step({send(partner, call.input[partner]), receive_result(node, partner, call.output)});
  }
}

Prediction predict_hypercube_pairwise(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  Prediction prediction{p - 1, p - 1, 0, 0};
  predict_exchanges(prediction, setting.topology);
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHMS(alltoall_hypercube_pairwise) = with_variant(
    {
        .operation = operations::alltoall,
        .name = "hypercube-pairwise",
        .summary = "every pair of nodes exchanges blocks once; 2^d nodes",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3, Algorithm 4.10, Eq. 4.10",
        .exactly_once = true,
        .remark = "free of contention on hypercubes and complete networks",
        .needs = {needs::nodes_power_of_two()},
        .instead = {"shift"},
        .predict = predict_hypercube_pairwise,
        .program = alltoall_hypercube_pairwise,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::alltoallv;
      uneven.source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3, Algorithm 4.10";
      uneven.predict = startups_of<predict_hypercube_pairwise>;
    });

}  // namespace wormcube
