// Reduction to one node, dimension by dimension of the labels.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce/hypercube.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/loads.hpp"
#include "wormcube/collectives/partial.hpp"
#include "wormcube/collectives/require.hpp"

#include <bit>

#include <fmt/core.h>

namespace wormcube {

namespace {

void require_partners(Rank p, Rank root) {
  if (root != 0 && !std::has_single_bit(static_cast<unsigned>(p))) {
    throw UsageError(fmt::format(
        "hypercube: root {} of {} nodes; needs root 0, or a power of 2 for the number of nodes; "
        "use halving",
        root, p));
  }
}

}  // namespace

void reduce_hypercube(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                      Rank root) {
  require_reduction_to_root("reduce_hypercube", node, reduction, mine, result, root);
  const Rank p = node.size(), r = node.rank();
  require_partners(p, root);
  // Half of the nodes only send: they need no memory of their own.
  const bool combines = (r ^ root) % 2 == 0;
  const Memory incoming = node.memory(combines ? mine.size() : 0);
  const Memory own = node.memory(combines && r != root ? mine.size() : 0);
  Partial partial(node, reduction, mine, r == root ? result : own.span());
  // Invariant: before the step of `bit`, of each `bit` nodes whose labels differ below it one has
  // what they all gave, in the order of labels: the one that agrees with the root there.
  for (Rank bit = 1; bit < p; bit *= 2) {
    const Rank partner = r ^ bit, differs = r ^ root;
    if (differs % bit != 0 || partner >= p) {
      node.step();
    } else if ((differs & bit) != 0) {
      node.step({send(partner, partial.value())});
    } else {
      node.step({receive(partner, incoming)});
      partial.join(incoming, partner < r);
    }
  }
  if (r == root) partial.settle();
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_hypercube){
    .operation = operations::reduce,
    .name = "hypercube",
    .summary = "bit by bit of the labels, lowest first; every network, any root if p = 2^d",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.3 and 4.1.5, Algorithm 4.3",
    .exactly_once = true,
    .remark = "free of contention on hypercubes; the root by XOR, the order of ranks kept",
    .rows = {{"1.20", "", "hypercube:6"}, {"1.20", "", "complete:6"}},
    .require = [](const Setting& on) { require_partners(on.topology.nodes(), on.arguments.root); },
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes(), root = setting.arguments.root;
      const double steps = log2_ceiling(p);
      Prediction prediction{steps, steps, 0};
      prediction.combined_blocks = steps;
      std::vector<Messages> messages;
      for (Rank bit = 1; bit < p; bit *= 2) {
        Messages& step = messages.emplace_back();
        for (Rank x = bit; x < p; x += 2 * bit) step.push_back({x ^ root, x ^ bit ^ root});
      }
      predict_contention(prediction, setting.topology, messages);
      return prediction;
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_hypercube(node, call.arguments.reduction, call.input.all(),
                                     call.output.all(), call.arguments.root);
        },
};

}  // namespace algorithms

}  // namespace wormcube
