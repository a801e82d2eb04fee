// Division of a rank by a number known in advance, without the processor's division.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/rank.hpp"

#include <cstdint>

namespace wormcube {

/// A divisor of ranks: a rank's route through a network needs divisions by strides and sizes,
/// several for each dimension.
///
/// For 0 <= x <= 2^20 and 1 <= d <= 2^20: with m = ceil(2^41 / d) there is an e < d so that m d =
/// 2^41 + e, so x m / 2^41 = x/d + x e / (2^41 d), which is less than x/d + 1/d: no whole number
/// lies in between, and x m has 62 bits at most.
class Divisor {
 public:
  explicit Divisor(Rank value)
      : value_(value),
        factor_(((std::uint64_t{1} << bits) - 1) / static_cast<unsigned>(value) + 1) {
    WORMCUBE_ASSERT(value >= 1 && value <= max_nodes);
  }

  Rank value() const { return value_; }
  /// For x in 0 to max_nodes, the range of ranks.
  Rank quotient(Rank x) const {
    return static_cast<Rank>(static_cast<std::uint64_t>(x) * factor_ >> bits);
  }
  Rank rest(Rank x) const {
    return static_cast<Rank>(static_cast<unsigned>(x) -
                             static_cast<unsigned>(quotient(x)) * static_cast<unsigned>(value_));
  }

 private:
  static constexpr int bits = 41;
  Rank value_;
  std::uint64_t factor_;
};

}  // namespace wormcube
