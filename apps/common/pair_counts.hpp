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

/// How many elements each node sends to each other, and receives. Nodes write their own rows in
/// local(). Between steps their programs read them, so a dry run, which skips local(), repeats what
/// the previous run found.
class PairCounts {
 public:
  /// The initial counts, for the dry run that estimates the memory: the elements of each node in
  /// the distribution, spread evenly over all.
  explicit PairCounts(const Distribution& elements);

  /// Entry q: what node r sends to node q.
  std::span<std::size_t> sent(Rank r) { return row(sent_, r); }
  /// Entry q: what node r receives from node q.
  std::span<std::size_t> received(Rank r) { return row(received_, r); }
  /// All that node r receives.
  std::size_t total_received(Rank r) const;
  /// The largest number that one node sends to another.
  std::size_t largest() const { return std::ranges::max(sent_); }
  /// Gives every process the rows of all.
  void join(const Runner& runner);

  /// Their memory, in bytes.
  static double bytes(Rank nodes) { return 2.0 * nodes * nodes * sizeof(std::size_t); }

  /// Sends every node how much it will receive from each other: an alltoall of one count for each
  /// pair. Throws std::runtime_error if that exceeds the total: the alltoall is wrong.
  void tell(Node& node, const Collective& alltoall);
  /// Moves the elements: `out` holds those for node 0, node 1, ..; `in` gets those from node 0, ..
  void exchange(Node& node, const Collective& alltoallv, ConstSpan out, Span in,
                Bytes element_bytes);
  /// The reverse: an answer for each element that arrived, to its sender.
  void answer(Node& node, const Collective& alltoallv, ConstSpan out, Span in, Bytes element_bytes);

 private:
  std::span<std::size_t> row(std::vector<std::size_t>& counts, Rank r) const {
    const auto p = static_cast<std::size_t>(elements_.nodes);
    return std::span(counts).subspan(static_cast<std::size_t>(r) * p, p);
  }

  Distribution elements_;
  std::vector<std::size_t> sent_, received_;  // row r: of node r
};

/// Where blocks of these numbers of elements start and end, in bytes: one entry more than there are
/// blocks.
std::vector<Bytes> block_offsets(std::span<const std::size_t> counts, Bytes element_bytes);

}  // namespace wormcube::apps
