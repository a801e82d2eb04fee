// Collectives on the modelled machine: recorded dry, then replayed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/options/model.hpp"
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/replay/replay.hpp"

#include <optional>
#include <string>

namespace wormcube::cli {

/// The schedule of a call with blocks of so many bytes. Throws UsageError if its dry run needs more
/// memory or time than there is.
Schedule record_call(const Collective& collective, const Topology& topology, Bytes block_bytes,
                     bool in_place = false);

/// The replayed time of a call; nothing after a deadlock.
std::optional<Ticks> replayed_time(const Collective& collective, const Topology& topology,
                                   Bytes block_bytes, MachineModel model, int virtual_channels,
                                   bool all_port);

}  // namespace wormcube::cli
