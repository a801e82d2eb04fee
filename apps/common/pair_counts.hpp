// Exchanges whose sizes depend on the data: how much each pair of nodes exchanges.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/distribution.hpp"
#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/collectives/core/registry.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace wormcube::apps {

/// How many elements each node sends to each other, and gets. Nodes write their own rows in
/// local(); between steps their programs read them, so that a dry run, which skips local(), repeats
/// what the run before it found.
class PairCounts {
 public:
  /// At first, for the dry run that estimates the memory: the elements of each node as the
  /// distribution says, spread evenly over all.
  explicit PairCounts(const Distribution& elements);

  /// Entry q: what node r sends to node q.
  std::span<std::size_t> sent(Rank r) { return row(sent_, r); }
  /// Entry q: what node r gets from node q.
  std::span<std::size_t> received(Rank r) { return row(received_, r); }
  /// All that node r gets.
  std::size_t total_received(Rank r) const;
  /// The most that one node sends to one other.
  std::size_t largest() const { return std::ranges::max(sent_); }
  /// Gives every process the rows of all.
  void join(const Runner& runner);

  /// What these hold, in bytes.
  static double bytes(Rank nodes) { return 2.0 * nodes * nodes * sizeof(std::size_t); }

  /// Tells every node what the others will send to it: an alltoall of one count for each pair.
  /// Throws std::runtime_error if that is more than there is at all: the alltoall is wrong.
  void tell(Node& node, const Collective& alltoall);
  /// Moves the elements: `out` holds those for node 0, node 1, ..; `in` gets those from node 0, ..
  void exchange(Node& node, const Collective& alltoallv, ConstSpan out, Span in,
                Bytes element_bytes);
  /// The way back: an answer for each element that came, to whom it came from.
  void answer(Node& node, const Collective& alltoallv, ConstSpan out, Span in, Bytes element_bytes);

 private:
  std::span<std::size_t> row(std::vector<std::size_t>& counts, Rank r) const {
    const auto p = static_cast<std::size_t>(elements_.nodes);
    return std::span(counts).subspan(static_cast<std::size_t>(r) * p, p);
  }

  Distribution elements_;
  std::vector<std::size_t> sent_, received_;  // row r: of node r
};

/// Where blocks of so many elements start and end, in bytes: one entry more than there are blocks.
std::vector<Bytes> block_offsets(std::span<const std::size_t> counts, Bytes element_bytes);

}  // namespace wormcube::apps
