// The public interface: node programs, the machine, schedules, collectives, checks and runs.
// SPDX-License-Identifier: Apache-2.0
//
// Every algorithm is called as a Collective: parse_collective(operations::alltoall, "ring").
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
#include "wormcube/runtime/base/error.hpp"               // IWYU pragma: export
#include "wormcube/runtime/machine/machine.hpp"          // IWYU pragma: export
#include "wormcube/runtime/node/arithmetic.hpp"          // IWYU pragma: export
#include "wormcube/runtime/node/node.hpp"                // IWYU pragma: export
#include "wormcube/runtime/node/requests.hpp"            // IWYU pragma: export
#include "wormcube/runtime/node/together.hpp"            // IWYU pragma: export
#include "wormcube/runtime/node/views.hpp"               // IWYU pragma: export
#include "wormcube/runtime/replay/replay.hpp"            // IWYU pragma: export
#include "wormcube/runtime/schedule/check.hpp"           // IWYU pragma: export
#include "wormcube/runtime/schedule/prove.hpp"           // IWYU pragma: export
#include "wormcube/runtime/schedule/schedule.hpp"        // IWYU pragma: export
#include "wormcube/runtime/schedule/text.hpp"            // IWYU pragma: export
#include "wormcube/runtime/topology/families.hpp"        // IWYU pragma: export
#include "wormcube/runtime/topology/graph.hpp"           // IWYU pragma: export
#include "wormcube/runtime/topology/routing.hpp"         // IWYU pragma: export
#include "wormcube/runtime/topology/theory.hpp"          // IWYU pragma: export
#include "wormcube/runtime/topology/topology.hpp"        // IWYU pragma: export
#include "wormcube/version.hpp"                          // IWYU pragma: export
