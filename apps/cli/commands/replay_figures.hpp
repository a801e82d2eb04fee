// The figures of `wormcube replay`: bounds, links, nodes and messages as JSON, formulas in words.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/replay/analysis.hpp"
#include "wormcube/runtime/replay/replay.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::cli {

/// The subject of a replay: an algorithm's call, or a file's schedule.
struct ReplayTask {
  const Collective* collective = nullptr;  // empty for a file
  Bytes block_bytes = 0;
  std::string name;  // "suh-torus", or the file
};

/// Lower bounds: for any algorithm of a call, and for its messages.
struct ReplayBounds {
  std::optional<Ticks> startups, ports, links;
  ScheduleBounds schedule;
  /// The highest bound for any algorithm; for a file's schedule, for these messages.
  Ticks highest() const {
    if (!startups && !ports && !links) return std::max(schedule.ports, schedule.links);
    return std::max({startups.value_or(0), ports.value_or(0), links.value_or(0)});
  }
};

inline constexpr const char* of_a_file = "the schedule came from a file";

/// R rounds of start-ups: each but the last takes at least a start-up and a flit through the port,
/// the last a whole message. What a port and a link must carry, each at its own rate.
ReplayBounds bounds_of(const ReplayTask& task, const Schedule& schedule, const Routing& routing,
                       const MachineModel& model);

Json replayed_message_json(const ReplayedMessage& m);
Json replayed_links_json(const Replay& replay, const Routing& routing);
Json replayed_nodes_json(const Replay& replay);
Json critical_path_json(const std::vector<PathPiece>& path);

/// Fractions of the time for the busiest link and for all links.
struct UseOfLinks {
  double busiest = 0, mean = 0;
  std::string name;
};
UseOfLinks link_use(const Replay& replay, const Routing& routing);

std::string seconds_cell(Ticks ticks);
std::vector<Table::Column> replay_columns(std::size_t topology_width, std::size_t name_width);
/// The formula with its numbers.
std::vector<std::string> explanation(const ReplayTask& task, const Topology& topology,
                                     const CostModel& cost);

}  // namespace wormcube::cli
