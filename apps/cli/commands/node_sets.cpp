// Sets of nodes to mark in pictures.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/node_sets.hpp"

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::cli {

void add_node_sets_option(CLI::App& app, bool& node_sets) {
  app.add_flag(
         "--node-sets", node_sets,
         "In pictures, mark the sets of nodes that the algorithm defines: masters and slaves, "
         "diagonals, groups, cells")
      ->group("What");
}

NodeSets sets_to_mark(const Collective& collective, const Topology& topology) {
  const Algorithm& algorithm = *collective.algorithm;
  if (algorithm.node_sets != nullptr) return algorithm.node_sets(collective.setting(topology));
  std::vector<std::string> others;
  for (const Algorithm* other : registry()) {
    if (other->node_sets != nullptr)
      others.push_back(fmt::format("{} {}", other->operation->name, other->name));
  }
  throw UsageError(fmt::format("--node-sets: {} {} has no sets of nodes; these have: {}",
                               algorithm.operation->name, algorithm.name, fmt::join(others, ", ")));
}

}  // namespace wormcube::cli
