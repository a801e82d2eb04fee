// Collectives: called, added, checked, run, chosen and compared.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/choose/comparison.hpp"    // IWYU pragma: export
#include "wormcube/collectives/choose/contest.hpp"       // IWYU pragma: export
#include "wormcube/collectives/choose/measured.hpp"      // IWYU pragma: export
#include "wormcube/collectives/choose/near_winners.hpp"  // IWYU pragma: export
#include "wormcube/collectives/choose/ranking.hpp"       // IWYU pragma: export
#include "wormcube/collectives/choose/replayed.hpp"      // IWYU pragma: export
#include "wormcube/collectives/choose/work.hpp"          // IWYU pragma: export
#include "wormcube/collectives/core/algorithm.hpp"       // IWYU pragma: export
#include "wormcube/collectives/core/plugin.hpp"          // IWYU pragma: export
#include "wormcube/collectives/core/registry.hpp"        // IWYU pragma: export
#include "wormcube/collectives/harness/check.hpp"        // IWYU pragma: export
#include "wormcube/collectives/harness/contract.hpp"     // IWYU pragma: export
#include "wormcube/collectives/harness/run.hpp"          // IWYU pragma: export
#include "wormcube/machine.hpp"                          // IWYU pragma: export
