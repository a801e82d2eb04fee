// Total exchange on a hypercube, pair by pair.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/hypercube_pairwise.hpp"

#include "wormcube/collectives/require.hpp"

namespace wormcube {

void alltoall_hypercube_pairwise(Node& node, ConstBlocks out, Blocks in) {
  require_alltoall_hypercube_pairwise(node.topology());
  require_direct_exchange("alltoall_hypercube_pairwise", node, out, in);
  const Rank p = node.size(), r = node.rank();

  node.local([&] { copy(out[r], in[r]); });
  for (Rank t = 1; t < p; ++t) {
    const Rank partner = r ^ t;
    node.step({send(partner, out[partner]), receive(partner, in[partner])});
  }
}

void require_alltoall_hypercube_pairwise(const Topology& topology,
                                         const Parameters& /*parameters*/) {
  require_hypercube("hypercube-pairwise", topology, "use shift");
}

Prediction predict_alltoall_hypercube_pairwise(const Topology& topology,
                                               const Parameters& /*parameters*/) {
  const double p = topology.nodes();
  return {p - 1, p - 1, 0, 0};
}

}  // namespace wormcube
