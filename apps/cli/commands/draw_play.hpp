// What the player shows of one algorithm: its counts, messages and blocks, as JSON for the page.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/draw/layout.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/runtime/replay/machine_model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace wormcube::cli {

struct PlayOptions {
  CheckOptions check;
  CostModel model;
  std::optional<MachineModel> replays;  ///< the page's times are replayed on this machine
};

/// One algorithm on the page.
struct Play {
  Json json;
  CheckResult check;
  Schedule schedule;
  ScheduleReport steps;
  std::vector<std::vector<double>> held = {};  ///< as of PlayBlocks
  std::optional<NodeSets> sets = {};           ///< marked: see mark_sets
  bool aggregate = false;                      ///< too large for worms
};

/// One algorithm: checked, recorded with blocks of this size, proved again while following the
/// blocks.
Play play(const Collective& collective, const PlayOptions& options, const Routing& routing,
          const apps::Layout& layout, Bytes block_bytes);
/// Link loads and traffic between groups instead of worms. \param reason  with both numbers
void aggregate(Play& play, const Routing& routing, std::string reason);
/// Marks the algorithm's sets of nodes and its cells, on the page and in still pictures.
void mark_sets(Play& play, NodeSets sets, const apps::Layout& layout);
/// The layout: places, lanes, and their labels.
Json network_json(const apps::Layout& layout, const Routing& routing);

}  // namespace wormcube::cli
