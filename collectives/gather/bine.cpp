// Gather along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/gather/bine.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/bine.hpp"
#include "wormcube/collectives/scatter/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm gather_bine;
}

void gather_bine(Node& node, ConstSpan mine, Blocks in, Rank root) {
  require_network(algorithms::gather_bine, node.topology());
  require_rooted("gather_bine", node, in, mine, root, {});
  const BineTree tree(node, root);
  const Rank r = node.rank();
  const int taken = tree.taken();
  const BineHolding held(node, tree, in, only_read(mine));
  if (r == root) node.local([&] { copy(mine, in[root]); });
  for (int bit = 0; bit < tree.steps(); ++bit) {
    const Move move = tree.move(bit);
    if (bit > taken) {
      node.step();
    } else if (bit == taken) {
      node.step({send_pieces(move, held.all())});
    } else {
      node.step({receive_pieces(move, held.heir(bit))});
    }
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(gather_bine){
    .operation = operations::gather,
    .name = "bine",
    .summary = "a binomial tree along the ways of swing, near nodes first; tori of sides 2^d",
    .source = "De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311 (far nodes first)",
    .ports = Ports::one,
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::rings_of_powers_of_two()},
    .instead = {"halving", "mesh"},
    .predict = [](const Setting& setting) { return bine_scatter_cost(setting.topology); },
    .program =
        [](Node& node, const Call& call) {
          wormcube::gather_bine(node, call.input.all(), call.output, call.arguments.root);
        },
};

}  // namespace algorithms

}  // namespace wormcube
