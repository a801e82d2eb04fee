// Reduction along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce/bine.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/bine.hpp"
#include "wormcube/collectives/handover.hpp"
#include "wormcube/collectives/partial.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm reduce_bine;
}

void reduce_bine(Node& node, const Reduction& reduction, ConstSpan mine, Span result, Rank root) {
  require_network(algorithms::reduce_bine, node.topology());
  require_reduction_to_root("reduce_bine", node, reduction, mine, result, root);
  require_commutative("reduce_bine", reduction);
  const BineTree tree(node, root);
  const Rank r = node.rank();
  const int taken = tree.taken();
  const Bytes bytes = taken > 0 ? mine.size() : 0;
  const Memory incoming = node.memory(bytes), sum = node.memory(r == root ? 0 : bytes);
  Partial partial(node, reduction, mine, r == root ? result : sum.span());
  for (int bit = 0; bit < tree.steps(); ++bit) {
    if (bit > taken) {
      node.step();
    } else if (bit == taken) {
      node.step({send(tree.move(bit), partial.value())});
    } else {
      node.step({receive(tree.move(bit), incoming)});
      partial.before(incoming);
    }
  }
  if (r == root) partial.settle();
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_bine){
    .operation = operations::reduce,
    .name = "bine",
    .summary = "a binomial tree along the ways of swing, near nodes first; tori of sides 2^d",
    .source = "De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311 (far nodes first)",
    .ports = Ports::one,
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::rings_of_powers_of_two()},
    .instead = {"halving", "mesh"},
    .needs_commutative = true,
    .predict = [](const Setting& setting) -> Prediction {
      const double steps = log2_ceiling(setting.topology.nodes());
      return {.startups = steps,
              .transmission_blocks = steps,
              .rearranged_blocks = 0,
              .working_blocks = 0,
              .link_load = steps > 0 ? 1 : 0,
              .contended_blocks = steps,
              .combined_blocks = steps};
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_bine(node, call.arguments.reduction, call.input.all(), call.output.all(),
                                call.arguments.root);
        },
};

}  // namespace algorithms

}  // namespace wormcube
