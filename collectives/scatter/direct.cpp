// Scatter without forwarding.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/hops.hpp"

namespace wormcube {

namespace {

/// Scatter: the root sends block q of its input to node q, one node after another.
///
/// Network  any; one-port. Blocks of any sizes.
/// Cost     p - 1 steps of one block.
/// Links    one message in a step.
void scatter_direct(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank(), root = call.arguments.root;
  const Span own = call.output.all();
  if (r == root) node.local([&] { copy(call.input[r], own); });
  for (Rank t = 1; t < p; ++t) {
    const Rank q = mod(root + t, p);
    if (r == root) {
      node.step({send(q, call.input[q])});
    } else if (r == q) {
      node.step({receive(root, own)});
    } else {
      node.step();
    }
  }
}

Prediction predict_scatter_direct(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  return {.startups = p - 1,
          .transmission_blocks = p - 1,
          .rearranged_blocks = 0,
          .working_blocks = 0,
          .link_load = p > 1 ? 1 : 0,
          .link_blocks = p - 1,
          .hops = hops_to_all(setting.topology, setting.arguments.root)};
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_direct) = with_variant(
    {
        .operation = operations::scatter,
        .name = "direct",
        .summary = "the root sends to one node after another; every network",
        .source = "folklore; the baseline of Grama, Gupta, Karypis, Kumar, sec. 4.1",
        .contention_free = true,
        .exactly_once = true,
        .predict = predict_scatter_direct,
        .selection = Selection::by_name,
        .program = scatter_direct,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::scatterv;
      uneven.predict = [](const Setting& setting) {
        Prediction prediction = predict_scatter_direct(setting);
        prediction.transmission_blocks = prediction.link_blocks = {};
        return prediction;
      };
    });

}  // namespace wormcube
