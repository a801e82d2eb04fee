// Scatter along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/bine.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/bine.hpp"
#include "wormcube/collectives/scatter/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm scatter_bine;
}

void scatter_bine(Node& node, ConstBlocks out, Span mine, Rank root) {
  require_network(algorithms::scatter_bine, node.topology());
  require_rooted("scatter_bine", node, out, mine, root, {});
  const BineTree tree(node, root);
  const Rank r = node.rank();
  const int taken = tree.taken();
  const BineHolding held(node, tree, Blocks(only_read(out.all()), out.count()), mine);
  for (int bit = tree.steps() - 1; bit >= 0; --bit) {
    const Move move = tree.move(bit);
    if (bit > taken) {
      node.step();
    } else if (bit == taken) {
      node.step({receive_pieces(move, held.all())});
    } else {
      node.step({send_pieces(move, held.heir(bit))});
    }
  }
  if (r == root) node.local([&] { copy(out[root], mine); });
}

namespace algorithms {

WORMCUBE_ALGORITHM(scatter_bine){
    .operation = operations::scatter,
    .name = "bine",
    .summary = "a binomial tree along the ways of swing, far nodes first; tori of sides 2^d",
    .source = "De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311 (far nodes first)",
    .ports = Ports::one,
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::rings_of_powers_of_two()},
    .instead = {"halving", "mesh"},
    .predict = [](const Setting& setting) { return bine_scatter_cost(setting.topology); },
    .program =
        [](Node& node, const Call& call) {
          wormcube::scatter_bine(node, call.input, call.output.all(), call.arguments.root);
        },
};

}  // namespace algorithms

}  // namespace wormcube
