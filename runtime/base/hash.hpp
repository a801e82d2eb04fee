// Numbers that are mixed well.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace wormcube {

/// splitmix64's finaliser: each bit of x changes half of the bits of the result.
/// Source: G. L. Steele, D. Lea, C. H. Flood, Fast Splittable Pseudorandom Number Generators,
/// OOPSLA 2014, figure 16.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace wormcube
