// Which nodes each node of a barrier knows to have entered.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/rank.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wormcube {

/// One bit for each pair of nodes.
class KnownNodes {
 public:
  explicit KnownNodes(std::size_t nodes) : words_((nodes + 63) / 64), bits_(nodes * words_) {
    for (std::size_t node = 0; node < nodes; ++node) row(node)[node / 64] |= bit(node);
    before_ = bits_;
  }
  void begin_step() { before_ = bits_; }
  void tell(Rank from, Rank to) {
    std::uint64_t* const known = row(static_cast<std::size_t>(to));
    const std::uint64_t* const source = &before_[static_cast<std::size_t>(from) * words_];
    for (std::size_t i = 0; i < words_; ++i) known[i] |= source[i];
  }
  bool knows(std::size_t node, std::size_t of) { return (row(node)[of / 64] & bit(of)) != 0; }

 private:
  static std::uint64_t bit(std::size_t node) { return std::uint64_t{1} << node % 64; }
  std::uint64_t* row(std::size_t node) { return &bits_[node * words_]; }
  std::size_t words_;
  std::vector<std::uint64_t> bits_, before_;
};

}  // namespace wormcube
