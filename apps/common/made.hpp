// Arrays of random numbers, generated part by part.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/io/source.hpp"

#include <cstdint>
#include <vector>

namespace wormcube::apps {

/// Elements that depend only on seed and place, and differ except by chance: real ones, and the
/// parts of complex ones, from -1 to 1; integers over their whole range.
Source made_array(ElementType type, std::vector<std::size_t> shape, std::uint64_t seed);

}  // namespace wormcube::apps
