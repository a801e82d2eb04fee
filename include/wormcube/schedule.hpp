// Schedules of node programs: recorded, checked, proved, written, replayed on modelled machines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/node.hpp"                       // IWYU pragma: export
#include "wormcube/runtime/replay/replay.hpp"      // IWYU pragma: export
#include "wormcube/runtime/schedule/check.hpp"     // IWYU pragma: export
#include "wormcube/runtime/schedule/prove.hpp"     // IWYU pragma: export
#include "wormcube/runtime/schedule/schedule.hpp"  // IWYU pragma: export
#include "wormcube/runtime/schedule/text.hpp"      // IWYU pragma: export
