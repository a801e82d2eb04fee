// The operations: what their arguments must be, and what bounds them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/operations.hpp"

#include "wormcube/collectives/require.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {

bool Instance::is_source(Rank rank) const {
  return arguments.sources.empty() ? rank == 0
                                   : std::ranges::binary_search(arguments.sources, rank);
}

void require_arguments(Operation operation, Rank nodes, const Arguments& arguments) {
  if (operation->rooted) require_root(operation->name, nodes, arguments.root);
  if (operation->has_sources) {
    for (std::size_t i = 0; i < arguments.sources.size(); ++i) {
      const Rank source = arguments.sources[i];
      if (source < 0 || source >= nodes) {
        throw UsageError(fmt::format("{}: source {} of {} nodes; nodes are 0 to {}",
                                     operation->name, source, nodes, nodes - 1));
      }
      if (i > 0 && arguments.sources[i - 1] >= source) {
        throw UsageError(fmt::format("{}: sources must ascend; {} stands before {}",
                                     operation->name, arguments.sources[i - 1], source));
      }
    }
  }
  if (operation->reduces && !arguments.reduction.apply) {
    throw UsageError(fmt::format("{}: needs a reduction operator", operation->name));
  }
}

LowerBound lower_bound(Operation operation, const Topology& topology, Ports ports,
                       const Arguments& arguments) {
  if (operation->bound == nullptr) return {};
  if (topology.nodes() == 1) return {0, 0};
  return operation->bound(limits(topology, ports), {topology.nodes(), arguments});
}

}  // namespace wormcube
