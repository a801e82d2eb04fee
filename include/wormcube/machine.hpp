// The machine, which runs node programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/node.hpp"                     // IWYU pragma: export
#include "wormcube/runtime/machine/machine.hpp"  // IWYU pragma: export
