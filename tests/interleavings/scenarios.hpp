// Small programs on what the machine's threads share, each explored in all its
// executions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/tests/interleavings/explorer.hpp"

#include <vector>

namespace interleavings {

struct Scenario {
  const char* name;
  bool wide;  ///< takes more than a second or two
  Bounds bounds;
  Report (*of)(const Bounds& bounds, const Weakened* weakened);

  Report explore(const Weakened* weakened = nullptr) const { return of(bounds, weakened); }
};
const std::vector<Scenario>& scenarios();

}  // namespace interleavings
