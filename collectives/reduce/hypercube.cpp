// Reduction to one node, dimension by dimension of the labels: Algorithm 4.3.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/collectives/kit/partial.hpp"

#include <bit>

#include <fmt/core.h>

namespace wormcube {

namespace {

void require_partners(Rank p, Rank root) {
  if (root != 0 && !std::has_single_bit(static_cast<unsigned>(p))) {
    throw UsageError(fmt::format(
        "hypercube: root {} of {} nodes; needs root 0, or a power-of-2 number of nodes; use "
        "halving",
        root, p));
  }
}

/// All nodes' blocks combined in the order of ranks, at the root: in the step of bit b, lowest
/// first, nodes that differ from the root there send what they have to the partner across.
///
/// The textbook relabels by XOR with the root and combines by the new labels, which reverses the
/// order at all roots but one; here the node with the lower rank of the two is on the left.
///
/// Network  any; any p with root 0 (partners beyond p are skipped), p = 2^d with any root;
///          one-port.
/// Cost     c = ceil(log2 p) steps of one block, one combination each: (ts + tw m + tc m) c.
/// Links    free of contention on hypercubes, whatever the root; on a line 2^i messages share one
///          in step i.
void reduce_hypercube(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank root = call.arguments.root;
  const Rank p = node.size(), r = node.rank();
  // Half of the nodes only send: they need no memory of their own.
  const bool combines = (r ^ root) % 2 == 0;
  const Memory incoming = node.memory(combines ? call.input.all().size() : 0);
  const Memory own = node.memory(combines && r != root ? call.input.all().size() : 0);
  Partial partial(node, reduction, call.input.all(), r == root ? call.output.all() : own.span());
  // Invariant: before the step of `bit`, of each `bit` nodes whose labels differ below it one has
  // their combination, in the order of labels: the one that agrees with the root there.
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

}  // namespace

WORMCUBE_ALGORITHM(reduce_hypercube){
    .operation = operations::reduce,
    .name = "hypercube",
    .summary =
        "one bit of the labels after another, lowest first; every network, any root if p = 2^d",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.3 and 4.1.5, Algorithm 4.3",
    .exactly_once = true,
    .remark = "free of contention on hypercubes; root by XOR, keeps the order of ranks",
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
    .program = reduce_hypercube,
};

}  // namespace wormcube
