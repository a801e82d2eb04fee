// Faults of links: those that a network has.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/link_fault.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

namespace wormcube {

void require_links(const Topology& topology, std::span<const FaultyLink> faults) {
  for (const FaultyLink& fault : faults) {
    if (fault.from < 0 || fault.from >= topology.nodes()) {
      throw UsageError(fmt::format("no link {}-{} in {}: its nodes are 0 to {}", fault.from,
                                   fault.to, topology.name(), topology.nodes() - 1));
    }
    std::vector<Rank> ends;
    for (int port = 0; port < topology.ports(fault.from); ++port)
      ends.push_back(topology.link_ends(topology.link(fault.from, port)).to);
    if (std::ranges::find(ends, fault.to) != ends.end() && fault.to >= 0) continue;
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    throw UsageError(fmt::format("no link {}-{} in {}; node {} has links to {}", fault.from,
                                 fault.to, topology.name(), fault.from, fmt::join(ends, ", ")));
  }
}

}  // namespace wormcube
