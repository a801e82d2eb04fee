// Copies and parts of blocks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/blocks.hpp"

#include <cstring>

namespace wormcube {

void copy(ConstSpan from, Span to) {
  WORMCUBE_ASSERT(from.size() == to.size());
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

ConstSpan part(ConstSpan block, Rank part, Rank parts) {
  const Bytes first = block.size() * part / parts, last = block.size() * (part + 1) / parts;
  return block.subspan(first, last - first);
}

Span part(Span block, Rank part, Rank parts) {
  const Bytes first = block.size() * part / parts, last = block.size() * (part + 1) / parts;
  return block.subspan(first, last - first);
}

}  // namespace wormcube
