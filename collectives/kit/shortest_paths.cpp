// Breadth-first searches.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/shortest_paths.hpp"

#include "wormcube/runtime/base/recently_made.hpp"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

namespace wormcube {

ShortestPaths::ShortestPaths(const Topology& topology)
    : nodes_(topology.nodes()), neighbours_(static_cast<std::size_t>(nodes_)) {
  for (Link link = 0; link < topology.links(); ++link) {
    const Graph::Ends ends = topology.link_ends(link);
    neighbours_[static_cast<std::size_t>(ends.from)].push_back(ends.to);
  }
  for (auto& each : neighbours_) std::ranges::sort(each);
  constexpr std::uint16_t unknown = 0xffff;
  distances_.assign(static_cast<std::size_t>(nodes_) * static_cast<std::size_t>(nodes_), unknown);
  std::vector<Rank> queue;
  for (Rank u = 0; u < nodes_; ++u) {
    std::uint16_t* const from = distances_.data() + at(u, 0);
    queue.assign(1, u);
    from[u] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const Rank w : neighbours(queue[i])) {
        if (from[w] != unknown) continue;
        from[w] = static_cast<std::uint16_t>(from[queue[i]] + 1);
        queue.push_back(w);
      }
    }
    diameter_ = std::max<int>(diameter_, from[queue.back()]);
  }
}

std::shared_ptr<const ShortestPaths> ShortestPaths::of(const Topology& topology) {
  static RecentlyMade<Topology, ShortestPaths> made;
  return made(topology, [&] { return ShortestPaths(topology); });
}

std::size_t ShortestPaths::lane(Rank u, Rank w) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(neighbours(u), w) -
                                  neighbours(u).begin());
}

std::uint64_t ShortestPaths::next_hops(Rank u, Rank v) const {
  std::uint64_t set = 0;
  for (std::size_t i = 0; i < neighbours(u).size(); ++i) {
    if (distance(neighbours(u)[i], v) < distance(u, v)) set |= std::uint64_t{1} << i;
  }
  return set;
}

Need needs::only_nodes_of_few_ports() {
  return {fmt::format("every vertex must be a node of at most {} ports", ShortestPaths::most_ports),
          [](const Topology& topology) -> std::optional<std::string> {
            int ports = 0;
            for (int d = 0; d < topology.dimensions(); ++d) {
              const Graph& graph = topology.factor(d);
              if (graph.vertices() > graph.nodes()) return topology.name() + " has switches";
            }
            for (Rank r = 0; r < topology.nodes(); ++r) ports = std::max(ports, topology.ports(r));
            if (ports <= ShortestPaths::most_ports) return std::nullopt;
            return fmt::format("{} has a node of {}", topology.name(), ports);
          }};
}

}  // namespace wormcube
