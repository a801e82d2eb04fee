// What theory says of a network: distances and lower bounds, for `topology`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/runtime/topology/topology.hpp"

namespace wormcube::cli {

/// Status, and lower bounds for total exchange, packet switched, with a message per step.
/// \param node  whose status is shown too; -1: none
void show_theory(const Topology& topology, Rank node, const OutputOptions& output, Json& result);
/// The links' bound with all ports, in blocks over one link.
void show_link_bounds(const Topology& topology, const OutputOptions& output, Json& result);

}  // namespace wormcube::cli
