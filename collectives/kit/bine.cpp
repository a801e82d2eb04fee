// Paths from the root in the Gray code of base -2 digits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bine.hpp"

#include "wormcube/collectives/kit/hops.hpp"
#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/collectives/kit/swing.hpp"
#include "wormcube/runtime/base/numbers.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// The steps on the path round n = 2^L nodes from 0 to y: digits of y in base -2, in Gray code.
unsigned bine_way(Rank y, Rank n) {
  constexpr unsigned alternating = 0xAAAAAAAAU;
  const unsigned last = static_cast<unsigned>(n) - 1U;
  const unsigned digits = ((static_cast<unsigned>(y) + alternating) ^ alternating) & last;
  return gray_code(digits);
}

}  // namespace

BineTree::BineTree(Node& node, Rank root)
    : topology_(node.topology()),
      root_(root),
      rank_(node.rank()),
      ways_(node.plan<std::vector<Way>>(
          "bine", {}, [&] { return slots_by_step(topology_, 0, false, log2_ceiling); })),
      taken_(taken(rank_)) {}

int BineTree::taken(Rank r) const {
  for (int bit = 0; bit < steps(); ++bit) {
    const auto [d, step] = ways_[static_cast<std::size_t>(bit)];
    const Rank n = topology_.size(d);
    const Rank y = mod(topology_.coordinate(r, d) - topology_.coordinate(root_, d), n);
    if ((bine_way(y, n) >> static_cast<unsigned>(step) & 1U) != 0) return bit;
  }
  return steps();
}

Move BineTree::move(Rank r, int bit) const {
  const auto [d, step] = ways_[static_cast<std::size_t>(bit)];
  const Rank n = topology_.size(d);
  const bool even = (topology_.coordinate(r, d) - topology_.coordinate(root_, d)) % 2 == 0;
  const int hops = even ? swing_hops(step) : -swing_hops(step);
  if (2 * std::abs(hops) <= n) return {d, hops};
  return {d, hops > 0 ? hops - n : hops + n};
}

std::vector<Rank> BineTree::subtree() const {
  std::vector<Rank> nodes(std::size_t{1} << static_cast<unsigned>(taken_), rank_);
  // Invariant: entries whose numbers have no bits below `bit` are right.
  for (int bit = taken_ - 1; bit >= 0; --bit) {
    const std::size_t distance = std::size_t{1} << static_cast<unsigned>(bit);
    for (std::size_t i = 0; i < nodes.size(); i += 2 * distance) {
      const auto [d, hops] = move(nodes[i], bit);
      nodes[i + distance] = topology_.neighbour(nodes[i], d, hops);
    }
  }
  return nodes;
}

BineHolding::BineHolding(Node& node, const BineTree& tree, Blocks all, Span own)
    : all_(all),
      own_(own),
      order_(tree.taken() == tree.steps() ? tree.subtree() : std::vector<Rank>()),
      memory_(node.memory(order_.empty() ? ((Bytes{1} << tree.taken()) - 1) * own.size() : 0,
                          Purpose::blocks)) {}

std::vector<Span> BineHolding::all() const {
  if (memory_.size() == 0) return {own_};
  return {own_, memory_.span()};
}

std::vector<Span> BineHolding::heir(int bit) const {
  const std::size_t blocks = std::size_t{1} << static_cast<unsigned>(bit);
  if (order_.empty()) return {memory_.subspan((blocks - 1) * own_.size(), blocks * own_.size())};
  std::vector<Span> pieces;
  for (std::size_t i = blocks; i < 2 * blocks; ++i) pieces.push_back(all_[order_[i]]);
  return pieces;
}

Need needs::rings_of_powers_of_two() {
  return {"every dimension must be a ring of 2^d nodes",
          [](const Topology& topology) -> std::optional<std::string> {
            for (int d = 0; d < topology.dimensions(); ++d) {
              const Graph& graph = topology.factor(d);
              if (graph.is(Shape::ring) && is_power_of_two(graph.nodes())) continue;
              return needs::has_factor(topology, graph);
            }
            return std::nullopt;
          }};
}

namespace {

/// For messages with the blocks of all nodes that they are for, or come from.
Prediction predict_bine_bundles(const Setting& setting) {
  const double p = setting.topology.nodes();
  return {.startups = log2_ceiling(setting.topology.nodes()),
          .transmission_blocks = p - 1,
          .rearranged_blocks = 0,
          .working_blocks = std::max(0.0, p / 2 - 1),
          .link_load = p > 1 ? 1 : 0,
          .link_blocks = p - 1,
          .hops = hops_of_swing(setting.topology)};
}

Prediction predict_bine_blocks(const Setting& setting) {
  const double steps = log2_ceiling(setting.topology.nodes());
  return {.startups = steps,
          .transmission_blocks = steps,
          .rearranged_blocks = 0,
          .working_blocks = 0,
          .link_load = steps > 0 ? 1 : 0,
          .link_blocks = steps,
          .combined_blocks = steps,
          .hops = hops_of_swing(setting.topology)};
}

}  // namespace

Algorithm bine_tree(Operation operation, void (*program)(Node&, const Call&)) {
  const bool has_bundles = operation == operations::gather || operation == operations::scatter;
  const bool to_root = operation == operations::gather || operation == operations::reduce;
  return {
      .operation = operation,
      .name = "bine",
      .summary =
          to_root ? "a binomial tree along swing's paths, near nodes first; tori with sides of 2^d"
                  : "a binomial tree along swing's paths, far nodes first; tori with sides of 2^d",
      .source = "De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311 (far nodes first)",
      .contention_free = true,
      .exactly_once = true,
      .needs = {needs::rings_of_powers_of_two()},
      .instead = {"halving", "mesh"},
      .needs_commutative = operation->reduces,
      .predict = has_bundles ? predict_bine_bundles : predict_bine_blocks,
      .program = program,
  };
}

}  // namespace wormcube
