// k-from-all reduction by single blocks, on any network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/partial.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <span>

namespace wormcube {

namespace {

/// k-from-all reduction: in step t every target receives its block from the node t ranks on. Blocks
/// from lower ranks and from higher ones are combined separately, to keep the order of ranks.
///
/// Network  any, of any p, any targets; one-port.
/// Cost     (ts + tw m)(p - 1) if links are not shared.
/// Links    free of contention on hypercubes and complete networks.
void k_reduce_direct(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const std::span<const Rank> targets = sources_of(call.arguments);
  const Rank p = node.size(), r = node.rank(), own = number_of(targets, r);
  const Bytes m = own < 0 ? 0 : call.input.bytes();
  const Memory incoming = node.memory(m), lower = node.memory(m);
  const Span place = own < 0 ? Span() : call.output[0];
  Partial above(node, reduction, own < 0 ? ConstSpan() : call.input[own], place),
      below(node, reduction, lower, lower);
  for (Rank t = 1; t < p; ++t) {
    const Rank from = mod(r + t, p), to = mod(r - t, p), number = number_of(targets, to);
    std::vector<Op> ops;
    if (number >= 0) ops.push_back(send(to, call.input[number]));
    if (own >= 0) ops.push_back(receive(from, from == 0 ? lower : incoming));
    node.step(ops);
    if (own < 0) continue;
    if (from > r) {
      above.before(incoming);
    } else if (from > 0) {
      below.before(incoming);
    }
  }
  if (own < 0) return;
  if (r > 0) above.after(below.value());
  above.settle();
}

}  // namespace

WORMCUBE_ALGORITHM(k_reduce_direct){
    .operation = operations::k_reduce,
    .name = "direct",
    .summary =
        "in step t each target receives from the node t ranks ahead; every network, any targets",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2 and 4.6, for any targets",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const std::span<const Rank> targets = sources_of(setting.arguments);
      Prediction prediction = direct_prediction(setting, [](Rank target, Rank other) {
        return PatternMessage{other, target};
      });
      prediction.working_blocks.reset();  // arrivals are combined first
      // In the step that brings node 0's block a target combines nothing, and after the last step
      // one block more. Other targets combine meanwhile; nodes 0 and 1 are done by then.
      prediction.combined_blocks = p - 1.0 + (targets.size() > 1 && targets.back() > 1 ? 1 : 0);
      return prediction;
    },
    .program = k_reduce_direct,
};

}  // namespace wormcube
