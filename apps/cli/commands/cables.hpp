// The cables of a network in JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/runtime/topology/topology.hpp"

namespace wormcube::cli {

/// Puts `cables` into the result of `topology`: a row [a, b, dimension, hops] per cable, or the
/// reason why a large network lists none.
void put_cables(Json& result, const Topology& topology);

}  // namespace wormcube::cli
