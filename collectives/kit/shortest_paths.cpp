// Breadth-first searches.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/shortest_paths.hpp"

#include "wormcube/runtime/base/recently_made.hpp"

#include <algorithm>
#include <optional>
#include <utility>

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

// Link by link. Where no colour is free at both ends, two colours change places along the path of
// links of these two that begins at one of the ends.
LinkColours::LinkColours(const ShortestPaths& paths) {
  const Rank p = paths.nodes();
  for (Rank u = 0; u < p; ++u)
    count_ = std::max(count_, static_cast<int>(paths.neighbours(u).size()));
  constexpr Rank none = -1;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  // By colour: where the link of this colour leads that leaves a node, and whence one comes.
  std::vector<std::vector<Rank>> to(at(p), std::vector<Rank>(at(count_), none)), from = to;
  const auto free_of = [=](const std::vector<Rank>& used) {
    return static_cast<int>(std::ranges::find(used, none) - used.begin());
  };
  for (Rank u = 0; u < p; ++u) {
    for (const Rank w : paths.neighbours(u)) {
      const int a = free_of(to[at(u)]), b = free_of(from[at(w)]);
      // The path from w: the link of colour a into w, that of b out of its other end, and so on.
      std::vector<std::pair<Rank, Rank>> path;
      for (Rank end = w; a != b;) {
        const Rank source = from[at(end)][at(a)];
        if (source == none) break;
        path.emplace_back(source, end);
        end = to[at(source)][at(b)];
        if (end == none) break;
        path.emplace_back(source, end);
      }
      for (std::size_t i = 0; i < path.size(); ++i) {
        const int old = i % 2 == 0 ? a : b;
        to[at(path[i].first)][at(old)] = from[at(path[i].second)][at(old)] = none;
      }
      for (std::size_t i = 0; i < path.size(); ++i) {
        const int now = i % 2 == 0 ? b : a;
        to[at(path[i].first)][at(now)] = path[i].second;
        from[at(path[i].second)][at(now)] = path[i].first;
      }
      to[at(u)][at(a)] = w, from[at(w)][at(a)] = u;
    }
  }
  for (Rank u = 0; u < p; ++u) {
    auto& colours = of_.emplace_back();
    for (const Rank w : paths.neighbours(u))
      colours.push_back(static_cast<int>(std::ranges::find(to[at(u)], w) - to[at(u)].begin()));
  }
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
