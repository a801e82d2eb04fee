// Swing and ternary steps of whole vectors.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/whole_vectors.hpp"

#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/collectives/kit/swing.hpp"
#include "wormcube/collectives/kit/ternary.hpp"

#include <algorithm>

#include <fmt/core.h>

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

WholeVectors swing_whole_vectors(const Topology& topology, Ports ports) {
  WholeVectors plan;
  const std::vector<TorusCopy> copies = swing_copies(topology, ports);
  plan.parts = static_cast<int>(copies.size());
  for (std::size_t slot = 0; slot < copies.front().slots.size(); ++slot) {
    auto& messages = plan.steps.emplace_back();
    auto& parts = plan.part_of.emplace_back();
    for (int copy = 0; copy < plan.parts; ++copy) {
      const auto [dimension, step] = copies[static_cast<std::size_t>(copy)].slots[slot];
      if (dimension < 0) continue;
      const int hops =
          copy % 2 == 0 ? swing_hops(step) : -swing_hops(step);  // every other mirrored
      messages.push_back({dimension, hops, 1.0 / plan.parts, true});
      parts.push_back(copy);
    }
  }
  return plan;
}

WholeVectors ternary_whole_vectors(const Topology& topology) {
  WholeVectors plan;
  int hops = 1;
  for (const int d : wide_dimensions(topology)) {
    for (; hops < topology.size(d); hops *= 3) {
      plan.steps.push_back({{d, hops, 1}, {d, -hops, 1}});
      plan.part_of.push_back({0, 0});
    }
  }
  return plan;
}

std::optional<std::string> without_swing_whole_vectors(const Topology& topology) {
  for (const Rank n : topology.sizes()) {
    if (!is_power_of_two(n)) {
      return fmt::format("needs sides of 2^L nodes; {} has {}", topology.name(), n);
    }
  }
  return std::nullopt;
}

std::optional<std::string> without_ternary_whole_vectors(const Topology& topology) {
  const std::vector<int> wide = wide_dimensions(topology);
  if (wide.size() > 1) {
    return fmt::format("needs one ring; {} has {} dimensions", topology.name(), wide.size());
  }
  Rank power = 1;
  while (power < topology.nodes()) power *= 3;
  if (power == topology.nodes()) return std::nullopt;
  return fmt::format("needs a ring of 3^K nodes; {} has {}", topology.name(), topology.nodes());
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
