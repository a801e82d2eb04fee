// Scatter and gather without forwarding.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/hops.hpp"
#include "wormcube/collectives/kit/reversible.hpp"

namespace wormcube {

namespace {

/// Scatter: the root sends block q of its input to node q, one node after another. Gather: each
/// node sends its block to the root, one after another.
///
/// Network  any; one-port. Blocks of any sizes.
/// Cost     p - 1 steps of one block.
/// Links    one message in a step.
template <Way way>
void directly(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank(), root = call.arguments.root;
  const Reversible blocks(way, call);
  const Span own = blocks.own.all();
  if (r == root) blocks.move(node, blocks.all[r], own);
  for (Rank t = 1; t < p; ++t) {
    const Rank q = mod(root + t, p);
    if (r == root) {
      node.step({blocks.give(q, blocks.all[q])});
    } else if (r == q) {
      node.step({blocks.take(root, own)});
    } else {
      node.step();
    }
  }
}

template <Way way>
Prediction predict_directly(const Setting& setting) {
  const Rank p = setting.topology.nodes(), root = setting.arguments.root;
  return {.startups = p - 1,
          .transmission_blocks = p - 1,
          .rearranged_blocks = 0,
          .working_blocks = 0,
          .link_load = p > 1 ? 1 : 0,
          .link_blocks = p - 1,
          .hops = way == Way::scatter ? hops_to_all(setting.topology, root)
                                      : hops_from_all(setting.topology, root)};
}

template <Way way, const OperationRow& operation, const OperationRow& uneven_operation>
Registration one_after_another(std::string_view summary) {
  return with_variant(
      {
          .operation = operation,
          .name = "direct",
          .summary = summary,
          .source = "folklore; the baseline of Grama, Gupta, Karypis, Kumar, sec. 4.1",
          .contention_free = true,
          .exactly_once = true,
          .predict = predict_directly<way>,
          .selection = Selection::by_name,
          .program = directly<way>,
      },
      [](Algorithm& uneven) {
        uneven.operation = uneven_operation;
        uneven.predict = [](const Setting& setting) {
          Prediction prediction = predict_directly<way>(setting);
          prediction.transmission_blocks = prediction.link_blocks = {};
          return prediction;
        };
      });
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_direct) =
    one_after_another<Way::scatter, operations::scatter, operations::scatterv>(
        "the root sends to one node after another; every network");
WORMCUBE_ALGORITHMS(gather_direct) =
    one_after_another<Way::gather, operations::gather, operations::gatherv>(
        "the root receives from one node after another; every network");

}  // namespace wormcube
