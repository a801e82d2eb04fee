// Exchanges whose sizes depend on the data.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/pair_counts.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/core.h>

namespace wormcube::apps {

PairCounts::PairCounts(const Distribution& elements) : elements_(elements) {
  const Rank p = elements.nodes;
  const auto pairs = static_cast<std::size_t>(p) * static_cast<std::size_t>(p);
  sent_.resize(pairs);
  received_.resize(pairs);
  for (Rank r = 0; r < p; ++r) {
    for (Rank q = 0; q < p; ++q) {
      sent(r)[q] = Distribution{elements.count(r), p}.count(q);
      received(r)[q] = Distribution{elements.count(q), p}.count(r);
    }
  }
}

std::size_t PairCounts::total_received(Rank r) const {
  const auto p = static_cast<std::size_t>(elements_.nodes);
  const auto counts = std::span(received_).subspan(static_cast<std::size_t>(r) * p, p);
  return std::reduce(counts.begin(), counts.end());
}

void PairCounts::join(const Runner& runner) {
  const std::size_t row_bytes = static_cast<std::size_t>(elements_.nodes) * sizeof(std::size_t);
  for (std::vector<std::size_t>* counts : {&sent_, &received_}) {
    apps::join(runner, std::as_writable_bytes(std::span(*counts)), [&](Rank r) {
      const auto at = static_cast<std::size_t>(r) * row_bytes;
      return std::pair(at, at + row_bytes);
    });
  }
}

void PairCounts::tell(Node& node, const Collective& alltoall) {
  const Rank r = node.rank();
  const Bytes bytes = sent(r).size_bytes();
  const Memory out = node.memory(bytes), in = node.memory(bytes);
  node.local([&] { copy(std::as_bytes(sent(r)), out); });
  alltoall(node, ConstBlocks(out, node.size()), Blocks(in, node.size()));
  node.local([&] {
    copy(in, std::as_writable_bytes(received(r)));
    const auto most = std::ranges::max(received(r));
    if (most > elements_.items || total_received(r) > elements_.items) {
      throw std::runtime_error(
          fmt::format("{} {}: node {} received a count of {} elements from one "
                      "node, {} in total; the input has {}",
                      alltoall.operation()->name, alltoall.name(), r, most, total_received(r),
                      elements_.items));
    }
  });
}

void PairCounts::exchange(Node& node, const Collective& alltoallv, ConstSpan out, Span in,
                          Bytes element_bytes) {
  const std::vector<Bytes> to = block_offsets(sent(node.rank()), element_bytes),
                           from = block_offsets(received(node.rank()), element_bytes);
  alltoallv(node, ConstBlocks(out, std::span<const Bytes>(to)),
            Blocks(in, std::span<const Bytes>(from)));
}

void PairCounts::answer(Node& node, const Collective& alltoallv, ConstSpan out, Span in,
                        Bytes element_bytes) {
  const std::vector<Bytes> to = block_offsets(received(node.rank()), element_bytes),
                           from = block_offsets(sent(node.rank()), element_bytes);
  alltoallv(node, ConstBlocks(out, std::span<const Bytes>(to)),
            Blocks(in, std::span<const Bytes>(from)));
}

std::vector<Bytes> block_offsets(std::span<const std::size_t> counts, Bytes element_bytes) {
  std::vector<Bytes> offsets{0};
  offsets.reserve(counts.size() + 1);
  for (const std::size_t count : counts) offsets.push_back(offsets.back() + count * element_bytes);
  return offsets;
}

}  // namespace wormcube::apps
