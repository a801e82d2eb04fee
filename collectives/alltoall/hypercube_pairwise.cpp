// Total exchange on a hypercube, pair by pair.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/hypercube_pairwise.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_hypercube_pairwise;
}

void alltoall_hypercube_pairwise(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_hypercube_pairwise, node.topology());
  require_direct_exchange("alltoall_hypercube_pairwise", node, out, in);
  const Rank p = node.size(), r = node.rank();

  node.local([&] { copy(out[r], in[r]); });
  for (Rank t = 1; t < p; ++t) {
    const Rank partner = r ^ t;
    node.step({send(partner, out[partner]), receive(partner, in[partner])});
  }
}

namespace {

Prediction predict(const Setting& setting) {
  const Topology& topology = setting.topology;
  const double p = topology.nodes();
  return {p - 1, p - 1, 0, 0};
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_hypercube_pairwise){
    .operation = operations::alltoall,
    .name = "hypercube-pairwise",
    .summary = "every pair of nodes meets once; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3, Algorithm 4.10, Eq. 4.10",
    .needs = {needs::hypercube()},
    .instead = "use shift",
    .predict = predict,
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_hypercube_pairwise(node, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
