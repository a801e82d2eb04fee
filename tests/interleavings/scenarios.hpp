// Small programs on what the machine's threads share, each explored in all its executions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/tests/interleavings/explorer.hpp"

#include <vector>

namespace interleavings {

struct Scenario {
  const char* name;
  bool wide;  ///< takes more than a second or two
  Report (*explore)(const Bounds& bounds, const Weakened* weakened);
};
const std::vector<Scenario>& scenarios();

}  // namespace interleavings
