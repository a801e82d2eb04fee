// Which blocks have arrived at which node, and whether for the first time.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/tags.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/core.h>

namespace wormcube {

using namespace tags;

Arrivals::Arrivals(const Contract& contract)
    : contract_(contract),
      counted_(contract.pattern == Pattern::tags),
      blocks_per_node_(0),
      elements_per_block_(contract.block_bytes / contract.element_bytes() *
                          (contract.uneven() ? 2 : 1)) {
  for (Rank rank = 0; rank < contract.nodes; ++rank) {
    blocks_per_node_ = std::max<std::uint64_t>(blocks_per_node_, contract.gives(rank));
  }
  counted_ = counted_ && blocks_per_node_ > 0 && expected_bytes() <= most_bytes;
  if (!counted_) return;
  const auto nodes = static_cast<std::size_t>(contract.nodes);
  contract.operation->reduces ? combinations_.resize(nodes) : seen_.resize(nodes);
}

double Arrivals::expected_bytes() const {
  const auto p = static_cast<double>(contract_.nodes);
  const auto elements = static_cast<double>(blocks_per_node_ * elements_per_block_);
  constexpr double bits = 8;
  if (!contract_.operation->reduces) return p * p * elements / bits;
  // For each block a node receives partial results, about log p of them, and the whole one.
  return p * elements * (std::log2(p) + 1) * bytes_per_combination;
}

double Arrivals::bytes(const Contract& contract) {
  const Arrivals arrivals(contract);
  return arrivals.counted_ ? arrivals.expected_bytes() : 0;
}

void Arrivals::add(Rank to, std::span<const Span> pieces) {
  if (!counted_) return;
  const Bytes bytes = contract_.element_bytes();
  for (const Span piece : pieces) {
    for (Bytes at = 0; at + bytes <= piece.size() && counted_; at += bytes) {
      if (contract_.operation->reduces) {
        add_combination(to, piece.subspan(at, bytes));
        continue;
      }
      std::uint64_t element = 0;
      std::memcpy(&element, &piece[at], word_bytes);
      add(to, element ^ salt(contract_));
    }
  }
}

void Arrivals::add_combination(Rank to, ConstSpan element) {
  Combination combination;
  static_assert(sizeof(combination) == sizeof(Interval));
  std::memcpy(combination.data(), element.data(), sizeof(combination));
  Interval interval;
  std::memcpy(&interval, element.data(), sizeof(interval));
  const std::uint32_t block = interval.block ^ block_salt(contract_);
  if (block >= blocks_per_node_ || interval.index >= elements_per_block_) return;  // no witness
  const bool ranks =
      interval.first >= 0 && interval.first < interval.last && interval.last <= contract_.nodes;
  if (!contract_.commutes && !ranks) return;
  if (!combinations_[static_cast<std::size_t>(to)].insert(combination).second) {
    ++repeated_;
    if (first_.empty()) {
      first_ =
          contract_.commutes
              ? fmt::format("node {} receives the same combination of block {} twice", to, block)
              : fmt::format(
                    "node {} receives the combination of nodes {} to {}, block {}, "
                    "twice",
                    to, interval.first, interval.last - 1, block);
    }
  }
  constexpr auto most = static_cast<std::size_t>(most_bytes / bytes_per_combination);
  counted_ = ++combinations_kept_ < most;
}

void Arrivals::add(Rank to, std::uint64_t element) {
  const auto nodes = static_cast<std::uint64_t>(contract_.nodes);
  if (origin_of(element) >= nodes || block_of(element) >= blocks_per_node_ ||
      index_of(element) >= elements_per_block_) {
    return;  // not a tag: other data of the program
  }
  auto& seen = seen_[static_cast<std::size_t>(to)];
  if (seen.empty()) seen.resize(nodes * blocks_per_node_ * elements_per_block_);
  // By block first: a node that receives only its own block from every node stays within a few
  // cache lines.
  const auto place =
      (block_of(element) * nodes + origin_of(element)) * elements_per_block_ + index_of(element);
  if (seen[place]) {
    ++repeated_;
    if (first_.empty()) {
      first_ = fmt::format("node {} receives block {} of node {} twice", to, block_of(element),
                           origin_of(element));
    }
  }
  seen[place] = true;
}

}  // namespace wormcube
