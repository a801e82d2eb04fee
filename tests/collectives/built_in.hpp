// The algorithms to walk: other tests may have added some of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"

#include <vector>

namespace wormcube::cases {

/// The built-in algorithms, in the order of the registry.
inline std::vector<const Algorithm*> built_in() {
  std::vector<const Algorithm*> all;
  for (const Algorithm* const algorithm : registry()) {
    if (origin(*algorithm).empty()) all.push_back(algorithm);
  }
  return all;
}

}  // namespace wormcube::cases
