// The public interface. To include less, include one of these headers instead.
// SPDX-License-Identifier: Apache-2.0
//
// Every algorithm is called as a Collective: parse_collective(operations::alltoall, "ring").
#pragma once

#include "wormcube/collectives.hpp"  // IWYU pragma: export
#include "wormcube/machine.hpp"      // IWYU pragma: export
#include "wormcube/node.hpp"         // IWYU pragma: export
#include "wormcube/schedule.hpp"     // IWYU pragma: export
#include "wormcube/version.hpp"      // IWYU pragma: export
