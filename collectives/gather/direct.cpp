// Gather without forwarding.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/hops.hpp"

namespace wormcube {

namespace {

/// Gather: each node sends its block to the root, one after another.
///
/// Network  any; one-port. Blocks of any sizes.
/// Cost     p - 1 steps of one block.
/// Links    one message in a step.
void gather_direct(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank(), root = call.arguments.root;
  const ConstSpan own = call.input.all();
  if (r == root) node.local([&] { copy(own, call.output[r]); });
  for (Rank t = 1; t < p; ++t) {
    const Rank q = mod(root + t, p);
    if (r == root) {
      node.step({receive(q, call.output[q])});
    } else if (r == q) {
      node.step({send(root, own)});
    } else {
      node.step();
    }
  }
}

Prediction predict_gather_direct(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  return {.startups = p - 1,
          .transmission_blocks = p - 1,
          .rearranged_blocks = 0,
          .working_blocks = 0,
          .link_load = p > 1 ? 1 : 0,
          .link_blocks = p - 1,
          .hops = hops_from_all(setting.topology, setting.arguments.root)};
}

}  // namespace

WORMCUBE_ALGORITHMS(gather_direct) = with_variant(
    {
        .operation = operations::gather,
        .name = "direct",
        .summary = "the root receives from one node after another; every network",
        .source = "folklore; the baseline of Grama, Gupta, Karypis, Kumar, sec. 4.1",
        .contention_free = true,
        .exactly_once = true,
        .predict = predict_gather_direct,
        .selection = Selection::by_name,
        .program = gather_direct,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::gatherv;
      uneven.predict = [](const Setting& setting) {
        Prediction prediction = predict_gather_direct(setting);
        prediction.transmission_blocks = prediction.link_blocks = {};
        return prediction;
      };
    });

}  // namespace wormcube
