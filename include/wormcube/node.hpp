// Node programs, and the networks that they run on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"         // IWYU pragma: export
#include "wormcube/runtime/node/arithmetic.hpp"    // IWYU pragma: export
#include "wormcube/runtime/node/node.hpp"          // IWYU pragma: export
#include "wormcube/runtime/node/requests.hpp"      // IWYU pragma: export
#include "wormcube/runtime/node/together.hpp"      // IWYU pragma: export
#include "wormcube/runtime/node/views.hpp"         // IWYU pragma: export
#include "wormcube/runtime/topology/families.hpp"  // IWYU pragma: export
#include "wormcube/runtime/topology/graph.hpp"     // IWYU pragma: export
#include "wormcube/runtime/topology/routing.hpp"   // IWYU pragma: export
#include "wormcube/runtime/topology/theory.hpp"    // IWYU pragma: export
#include "wormcube/runtime/topology/topology.hpp"  // IWYU pragma: export
