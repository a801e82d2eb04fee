// The hops of Bruck's algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/options.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <cstdint>

namespace wormcube {

/// Calls f(hop, power) for each hop = d power below p, 0 < d < radix, power = radix^t.
template <class F>
void for_each_hop(Rank p, Rank radix, F f) {
  for (std::int64_t power = 1; power < p; power *= radix) {
    for (std::int64_t d = 1; d < radix && d * power < p; ++d) {
      f(static_cast<Rank>(d * power), static_cast<Rank>(power));
    }
  }
}

/// The option `radix`.
inline Option bruck_radix() {
  return {.name = "radix",
          .preset = 2,
          .least = 2,
          .most = 4096,
          .help = "base of the digits; a larger base has more steps of fewer blocks"};
}
inline Rank radix_of(const Options& options) { return static_cast<Rank>(options.number("radix")); }

}  // namespace wormcube
