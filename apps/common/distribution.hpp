// Rows over nodes: n items in blocks as even as possible.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <algorithm>
#include <cstddef>

namespace wormcube::apps {

/// n items over p nodes in consecutive blocks that differ by at most one; the longer ones come
/// first. With fewer items than nodes the last nodes have none.
struct Distribution {
  std::size_t items = 0;
  Rank nodes = 1;

  std::size_t first(Rank r) const {
    return quotient() * static_cast<std::size_t>(r) +
           std::min(static_cast<std::size_t>(r), remainder());
  }
  std::size_t count(Rank r) const {
    return quotient() + (static_cast<std::size_t>(r) < remainder() ? 1 : 0);
  }
  /// The largest number at any node.
  std::size_t largest() const { return quotient() + (remainder() > 0 ? 1 : 0); }
  bool even() const { return remainder() == 0; }

 private:
  std::size_t quotient() const { return items / static_cast<std::size_t>(nodes); }
  std::size_t remainder() const { return items % static_cast<std::size_t>(nodes); }
};

}  // namespace wormcube::apps
