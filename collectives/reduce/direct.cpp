// Reduction to one node by single messages: the baseline.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/hops.hpp"
#include "wormcube/collectives/kit/partial.hpp"

namespace wormcube {

namespace {

/// All nodes' blocks combined in the order of ranks, at the root: each node sends its own, first
/// the lower ones downwards, then the higher ones upwards.
///
/// Network  any; one-port.
/// Cost     p - 1 steps of one block: (ts + tw m + tc m)(p - 1).
/// Links    one message at a time.
void reduce_direct(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank root = call.arguments.root;
  const Rank p = node.size(), r = node.rank();
  const Memory incoming = node.memory(r == root ? call.input.all().size() : 0);
  Partial partial(node, reduction, call.input.all(), call.output.all());
  const auto from = [&](Rank source) {
    if (r == root) {
      node.step({receive(source, incoming)});
      partial.join(incoming, source < root);
    } else if (r == source) {
      node.step({send(root, call.input.all())});
    } else {
      node.step();
    }
  };
  for (Rank source = root - 1; source >= 0; --source) from(source);
  for (Rank source = root + 1; source < p; ++source) from(source);
  if (r == root) partial.settle();
}

}  // namespace

WORMCUBE_ALGORITHM(reduce_direct){
    .operation = operations::reduce,
    .name = "direct",
    .summary = "the root receives one message after another (a baseline); every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.1 (the dual of the naive algorithm)",
    .contention_free = true,
    .exactly_once = true,
    .predict =
        [](const Setting& setting) {
          const double others = setting.topology.nodes() - 1.0;
          Prediction prediction{others, others, 0};
          prediction.combined_blocks = others;
          prediction.hops = hops_from_all(setting.topology, setting.arguments.root);
          return prediction;
        },
    .selection = Selection::by_name,
    .program = reduce_direct,
};

}  // namespace wormcube
