// The verdict on what a check counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/harness/check.hpp"

namespace wormcube {

/// Adds to CheckResult::failures the laws, claims, formulas and bounds that do not hold.
void judge(CheckResult& result);

}  // namespace wormcube
