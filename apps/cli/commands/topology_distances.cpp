// Nodes per distance, and eccentricities.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/topology_distances.hpp"

#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/runtime/topology/distances.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::cli {

void show_distances(const Topology& topology, Rank node, const OutputOptions& output,
                    Json& result) {
  const Rank from = std::max(node, Rank{0});
  const std::vector<std::int64_t> counts = theory::nodes_by_distance(topology, from);
  const bool alike = theory::nodes_are_alike(topology);
  const auto range = theory::eccentricities(topology);
  constexpr std::size_t most_printed = 24;
  const std::size_t printed = std::min(counts.size(), most_printed);
  print_fact(output, "distances",
             fmt::format("{}{} nodes at 0 to {} links from {}",
                         fmt::join(counts.begin(), counts.begin() + printed, " "),
                         printed < counts.size() ? " .." : "", counts.size() - 1,
                         alike ? "any node (all look alike)" : fmt::format("node {}", from)));
  print_fact(output, "eccentricity",
             !range ? "not searched for: too many nodes"
             : range->least == range->most
                 ? fmt::format("{} of every node", range->most)
                 : fmt::format("{} to {} (radius and diameter)", range->least, range->most));
  result["distance_from"] = from;
  result["nodes_at_distance"] = counts;
  result["nodes_alike"] = alike;
  result["eccentricity"] = counts.size() - 1;
  constexpr const char* reason = "not searched for: too many nodes";
  put(result, "eccentricity_min", range ? Json(range->least) : Json(nullptr), reason);
  put(result, "eccentricity_max", range ? Json(range->most) : Json(nullptr), reason);
}

}  // namespace wormcube::cli
