// Arrays of random numbers, made by parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/io/source.hpp"

#include <cstdint>
#include <vector>

namespace wormcube::apps {

/// Elements that depend on seed and place alone, all different but for chance: real ones, and the
/// parts of complex ones, from -1 to 1; integers of all their bits.
Source made_array(ElementType type, std::vector<std::size_t> shape, std::uint64_t seed);

}  // namespace wormcube::apps
