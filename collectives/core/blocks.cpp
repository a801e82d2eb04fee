// Copies and parts of blocks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/blocks.hpp"

#include <cstring>

#include <fmt/core.h>

namespace wormcube {

void require_offsets(std::span<const Bytes> offsets, Bytes bytes) {
  if (offsets.empty()) {
    throw UsageError("blocks: 0 offsets; need one more than the number of blocks");
  }
  for (std::size_t b = 1; b < offsets.size(); ++b) {
    if (offsets[b - 1] <= offsets[b]) continue;
    throw UsageError(
        fmt::format("blocks: offsets must ascend; {} precedes {}", offsets[b - 1], offsets[b]));
  }
  if (offsets.back() > bytes) {
    throw UsageError(
        fmt::format("blocks: the last one ends at byte {}, but the data has {}; the blocks must "
                    "cover all of it",
                    offsets.back(), bytes));
  }
}

void copy(ConstSpan from, Span to) {
  WORMCUBE_ASSERT(from.size() == to.size());
  if (from.empty() || from.data() == to.data()) return;
  std::memcpy(to.data(), from.data(), from.size());
}

ConstSpan part(ConstSpan block, Rank part, Rank parts) {
  if (parts == 1) return block;  // of thousands of blocks in a call
  const Bytes first = block.size() * part / parts, last = block.size() * (part + 1) / parts;
  return block.subspan(first, last - first);
}

Span part(Span block, Rank part, Rank parts) {
  if (parts == 1) return block;
  const Bytes first = block.size() * part / parts, last = block.size() * (part + 1) / parts;
  return block.subspan(first, last - first);
}

}  // namespace wormcube
