// All-reduces that send whole vectors.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/whole_vectors.hpp"

#include "wormcube/collectives/kit/parts.hpp"

#include <algorithm>

namespace wormcube {

Option vector_form() {
  return {.name = "form",
          .choices = {"parts", "latency"},
          .help =
              "reduce-scatter and all-gather, or whole vectors in half the steps; last bits of "
              "rounded sums then differ from node to node"};
}

bool sends_whole(const Options& options) {
  return options.choice<VectorForm>("form") == VectorForm::latency;
}

void allreduce_whole_vectors(Node& node, const WholeVectors& plan, const Reduction& reduction,
                             ConstSpan mine, Span result) {
  node.local([&] { copy(mine, result); });
  std::size_t most = 0;
  for (const auto& messages : plan.steps) most = std::max(most, messages.size());
  const std::vector<Bytes> offsets = part_offsets(mine.size(), reduction.element_bytes, plan.parts);
  const Blocks parts(result, offsets);
  Bytes largest = 0;
  for (Rank i = 0; i < plan.parts; ++i) largest = std::max(largest, parts[i].size());
  const Memory memory = node.memory(most * largest);
  const auto incoming = [&](std::size_t i, int part) {
    return memory.span().subspan(i * largest, parts[part].size());
  };
  std::vector<Op> ops;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const std::vector<int>& part_of = plan.part_of[s];
    ops.clear();
    for (std::size_t i = 0; i < plan.steps[s].size(); ++i) {
      const TorusMessage& message = plan.steps[s][i];
      const bool odd = node.topology().coordinate(node.rank(), message.dimension) % 2 == 1;
      const int hops = message.alternating && odd ? -message.hops : message.hops;
      const auto tag = static_cast<Tag>(i);
      ops.push_back(send(Move{message.dimension, hops}, parts[part_of[i]], tag));
      // Partners of alternating steps exchange.
      ops.push_back(receive(Move{message.dimension, message.alternating ? hops : -hops},
                            incoming(i, part_of[i]), tag));
    }
    node.step(ops);
    for (std::size_t i = 0; i < plan.steps[s].size(); ++i) {
      const Span part = parts[part_of[i]];
      combine(node, reduction, part, incoming(i, part_of[i]), part);
    }
  }
}

Prediction whole_vectors_cost(const Topology& topology, const WholeVectors& plan) {
  Prediction prediction = torus_cost(topology, plan.steps);
  prediction.combined_blocks = 0;
  for (const auto& messages : plan.steps) {
    for (const TorusMessage& message : messages) *prediction.combined_blocks += message.blocks;
  }
  return prediction;
}

}  // namespace wormcube
