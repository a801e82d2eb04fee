// All-reduce by recursive doubling.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/collectives/kit/partial.hpp"

#include <bit>

namespace wormcube {

namespace {

/// The nodes that double: 2^d of p. In the first `pairs` pairs the lower node, and all later nodes.
struct Doubling {
  explicit Doubling(Rank p)
      : nodes(static_cast<Rank>(std::bit_floor(static_cast<unsigned>(p)))), pairs(p - nodes) {}
  bool in_pair(Rank rank) const { return rank < 2 * pairs; }
  Rank label(Rank rank) const { return in_pair(rank) ? rank / 2 : rank - pairs; }
  Rank rank(Rank label) const { return label < pairs ? 2 * label : label + pairs; }

  Rank nodes, pairs;
};

}  // namespace

/// All nodes' blocks combined in the order of ranks, on every node, with the same bits on all:
/// partners across one bit of the label swap what they have and combine it in the same way.
///
/// Unless p is a power of 2, neighbouring ranks 2i, 2i+1 first form one of the surplus pairs. The
/// lower one continues and sends the result to the other at the end.
///
/// Network  any, of any p; one-port.
/// Cost     log p steps of one block, (ts + tw m + tc m) log p; if p is not a power of 2 it is
///          floor(log2 p) + 2 steps, one of which combines nothing.
/// Links    free of contention on hypercubes and complete networks; on a line 2^i messages share a
///          link in step i, tw m (p - 1) in total.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.3, Eq. 4.5; on a ring problem 4.6.
void allreduce_recursive_doubling(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank r = node.rank();
  const Doubling doubling(node.size());
  const Memory incoming = node.memory(call.input.all().size());
  Partial partial(node, reduction, call.input.all(), call.output.all());
  const bool in_pair = doubling.in_pair(r), silent = in_pair && r % 2 == 1;

  if (silent) {
    node.step({send(r - 1, call.input.all())});
  } else if (in_pair) {
    node.step({receive(r + 1, incoming)});
    partial.before(incoming);
  } else if (doubling.pairs > 0) {
    node.step();
  }
  // Invariant: before the step of `bit` all nodes whose labels agree from it on have each other's
  // contributions.
  for (Rank bit = 1; bit < doubling.nodes; bit *= 2) {
    if (silent) {
      node.step();
      continue;
    }
    const Rank partner = doubling.rank(doubling.label(r) ^ bit);
    node.step(exchange(partner, partial.value(), incoming));
    partial.join(incoming, partner < r);
  }
  if (silent) {
    node.step({receive(r - 1, call.output.all())});
    return;
  }
  partial.settle();
  if (in_pair) {
    node.step({send(r + 1, call.output.all())});
  } else if (doubling.pairs > 0) {
    node.step();
  }
}

std::vector<Messages> recursive_doubling_messages(Rank p) {
  const Doubling doubling(p);
  std::vector<Messages> steps;
  if (doubling.pairs > 0) {
    steps.emplace_back();
    for (Rank i = 0; i < doubling.pairs; ++i) steps[0].push_back({2 * i + 1, 2 * i});
  }
  for (Rank bit = 1; bit < doubling.nodes; bit *= 2) {
    Messages& step = steps.emplace_back();
    for (Rank label = 0; label < doubling.nodes; ++label) {
      step.push_back({doubling.rank(label), doubling.rank(label ^ bit)});
    }
  }
  if (doubling.pairs > 0) {
    Messages& step = steps.emplace_back();
    for (Rank i = 0; i < doubling.pairs; ++i) step.push_back({2 * i, 2 * i + 1});
  }
  return steps;
}

WORMCUBE_ALGORITHM(allreduce_recursive_doubling){
    .operation = operations::allreduce,
    .name = "recursive-doubling",
    .summary = "partners whose ranks differ in one bit swap their data; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3, Eq. 4.5, problem 4.6",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const std::vector<Messages> messages = recursive_doubling_messages(p);
      const auto steps = static_cast<double>(messages.size());
      Prediction prediction{steps, steps, 0};
      prediction.combined_blocks = log2_ceiling(p);  // floor(log2 p), and one more for the pairs
      predict_contention(prediction, setting.topology, messages);
      return prediction;
    },
    .program = allreduce_recursive_doubling,
};

}  // namespace wormcube
