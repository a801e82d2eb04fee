// Ways from the root in the Gray code of base -2 digits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/bine.hpp"

#include "wormcube/collectives/links.hpp"
#include "wormcube/collectives/swing.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// The steps on the way round n = 2^L nodes from 0 to y: digits of y in base -2, in Gray code.
unsigned bine_way(Rank y, Rank n) {
  constexpr unsigned alternating = 0xAAAAAAAAU;
  const unsigned last = static_cast<unsigned>(n) - 1U;
  const unsigned digits = ((static_cast<unsigned>(y) + alternating) ^ alternating) & last;
  return digits ^ digits >> 1U;
}

}  // namespace

BineTree::BineTree(const Topology& topology, Rank root) : topology_(topology), root_(root) {
  for (const auto& [d, step] : slots_by_step(topology, 0, false, log2_ceiling)) {
    plan_.push_back({d, step});
  }
}

unsigned BineTree::way(Rank r) const {
  unsigned way = 0;
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const auto [d, step] = plan_[i];
    const Rank n = topology_.size(d);
    const Rank y = mod(topology_.coordinate(r, d) - topology_.coordinate(root_, d), n);
    way |= (bine_way(y, n) >> static_cast<unsigned>(step) & 1U) << i;
  }
  return way;
}

int BineTree::taken(Rank r) const {
  const unsigned steps = way(r);
  return steps == 0 ? this->steps() : std::countr_zero(steps);
}

Move BineTree::move(Rank r, int bit) const {
  const auto [d, step] = plan_[static_cast<std::size_t>(bit)];
  const Rank n = topology_.size(d);
  const bool even = (topology_.coordinate(r, d) - topology_.coordinate(root_, d)) % 2 == 0;
  const int hops = even ? swing_hops(step) : -swing_hops(step);
  if (2 * std::abs(hops) <= n) return {d, hops};
  return {d, hops > 0 ? hops - n : hops + n};
}

std::vector<Rank> BineTree::subtree(Rank q) const {
  const int bit = taken(q);
  const unsigned own = way(q);
  std::vector<Rank> blocks;
  for (Rank b = 0; b < topology_.nodes(); ++b) {
    if (bit == steps() ||
        way(b) >> static_cast<unsigned>(bit) == own >> static_cast<unsigned>(bit)) {
      blocks.push_back(b);
    }
  }
  return blocks;
}

BineHolding::BineHolding(Node& node, const BineTree& tree, Blocks all, Span own, bool is_root)
    : all_(all), own_(own), rank_(node.rank()), is_root_(is_root) {
  if (is_root) return;
  held_ = tree.subtree(rank_);
  std::erase(held_, rank_);
  memory_.emplace(node.memory(held_.size() * own.size(), Purpose::blocks));
}

Span BineHolding::operator[](Rank block) const {
  if (is_root_) return all_[block];
  if (block == rank_) return own_;
  const auto found = std::ranges::lower_bound(held_, block);
  return memory_->subspan(static_cast<Bytes>(found - held_.begin()) * own_.size(), own_.size());
}

std::vector<Span> BineHolding::pieces(const std::vector<Rank>& blocks) const {
  std::vector<Span> pieces;
  for (const Rank block : blocks) pieces.push_back((*this)[block]);
  return pieces;
}

namespace needs {

Need rings_of_powers_of_two() {
  return {"every dimension must be a ring of 2^d nodes",
          [](const Topology& topology) -> std::optional<std::string> {
            for (int d = 0; d < topology.dimensions(); ++d) {
              const Graph& graph = topology.factor(d);
              if (graph.is(Shape::ring) && is_power_of_two(graph.nodes())) continue;
              return fmt::format("{} has {}", topology.name(), graph.name());
            }
            return std::nullopt;
          }};
}

}  // namespace needs

}  // namespace wormcube
