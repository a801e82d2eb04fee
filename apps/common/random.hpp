// A seeded generator whose numbers are the same on every platform.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/hash.hpp"

#include <cstdint>

namespace wormcube::apps {

/// SplitMix64: the standard library's distributions are not the same everywhere.
/// Source: G. L. Steele, D. Lea, C. H. Flood, Fast Splittable Pseudorandom Number Generators,
/// OOPSLA 2014, figure 16.
class SplitMix {
 public:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  /// A different increment for a second sequence: with the same one all seeds are parts of one
  /// sequence.
  static constexpr std::uint64_t second = 0xd1342543de82ef95U;
  /// \param increment  odd
  explicit SplitMix(std::uint64_t seed, std::uint64_t increment = golden)
      : state_(seed), increment_(increment) {}
  std::uint64_t next() {
    state_ += increment_;
    return mixed(state_);
  }
  /// As calling next() this many times.
  void skip(std::uint64_t numbers) { state_ += numbers * increment_; }
  /// Uniform in [-1, 1), of 53 bits.
  double symmetric() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1; }

 private:
  std::uint64_t state_, increment_;
};

}  // namespace wormcube::apps
