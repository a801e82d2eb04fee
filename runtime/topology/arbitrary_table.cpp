// Links by vertex, up and down; routes and distances, by search.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/arbitrary_table.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

namespace wormcube::shapes {
namespace {

// The number of links that the search for all distances may visit.
constexpr std::int64_t max_distance_work = std::int64_t{1} << 31;

}  // namespace

/// Numbers the links: by vertex, then by ascending neighbour.
void Arbitrary::Table::connect(Rank nodes, const std::vector<std::pair<Rank, Rank>>& edges) {
  std::vector<std::pair<Rank, Rank>> directed;
  directed.reserve(edges.size() * 2);
  for (const auto& [u, v] : edges) {
    for (const Rank end : {u, v}) {
      if (end < 0 || end >= nodes) {
        throw UsageError(
            fmt::format("{}: edge {} {}: no vertex {} among {} nodes", name, u, v, end, nodes));
      }
    }
    if (u == v) throw UsageError(fmt::format("{}: edge {} {} is a loop", name, u, v));
    directed.emplace_back(u, v);
    directed.emplace_back(v, u);
  }
  std::ranges::sort(directed);
  if (const auto twice = std::ranges::adjacent_find(directed); twice != directed.end()) {
    throw UsageError(
        fmt::format("{}: edge {} {} is given twice", name, twice->first, twice->second));
  }
  first.assign(static_cast<std::size_t>(nodes) + 1, 0);
  from.reserve(directed.size());
  to.reserve(directed.size());
  for (const auto& [u, v] : directed) {
    ++first[u + 1];
    from.push_back(u);
    to.push_back(v);
  }
  for (Rank v = 0; v < nodes; ++v) first[v + 1] += first[v];
}

/// Decides which links go up, from a breadth-first spanning tree with vertex 0 as its root: by
/// level, then by number.
void Arbitrary::Table::orient(Rank nodes) {
  std::vector<int> level;
  std::vector<Rank> reached;
  search(0, level, reached);
  if (const auto lost = std::ranges::find(level, -1); lost != level.end()) {
    const auto vertex = static_cast<Rank>(lost - level.begin());
    const bool from_one = nodes > 1 && first[1] == 0;
    throw UsageError(
        from_one ? fmt::format("{}: vertex 0 has no edge; vertices are numbered from 0, not from 1",
                               name)
                 : fmt::format("{}: vertex {} cannot be reached from vertex 0{}", name, vertex,
                               first[vertex] == first[vertex + 1] ? ": it has no edge" : ""));
  }
  order = std::move(reached);
  std::ranges::sort(order, {}, [&](Rank v) { return std::pair(level[v], v); });
  place.resize(order.size());
  for (Rank i = 0; i < nodes; ++i) place[order[i]] = i;
}

/// Fills the next-hop table with shortest paths of ups, then downs; of equal ones the lowest
/// neighbour comes first.
void Arbitrary::Table::find_routes(Rank nodes) const {
  constexpr int far = std::numeric_limits<int>::max() / 2;
  next.assign(2 * static_cast<std::size_t>(nodes) * static_cast<std::size_t>(nodes), nowhere);
  std::vector<int> after_down(nodes), before_down(nodes);  // hops to the destination
  std::vector<std::uint8_t> up(to.size());
  for (std::size_t link = 0; link < to.size(); ++link) up[link] = is_up(link) ? 1 : 0;

  for (Rank destination = 0; destination < nodes; ++destination) {
    std::uint16_t* ports = &next[2 * static_cast<std::size_t>(destination) * nodes];
    std::ranges::fill(after_down, far);
    after_down[destination] = 0;
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
      for (auto link = first[*v]; link < first[*v + 1]; ++link) {
        if (*v == destination || up[link] || after_down[to[link]] + 1 >= after_down[*v]) continue;
        after_down[*v] = after_down[to[link]] + 1;
        ports[2 * *v + 1] = static_cast<std::uint16_t>(link - first[*v]);
      }
    }
    before_down = after_down;
    for (const Rank v : order) {
      ports[2 * v] = ports[2 * v + 1];
      for (auto link = first[v]; link < first[v + 1]; ++link) {
        if (v == destination || !up[link] || before_down[to[link]] + 1 >= before_down[v]) continue;
        before_down[v] = before_down[to[link]] + 1;
        ports[2 * v] = static_cast<std::uint16_t>(link - first[v]);
      }
    }
  }
}

/// Breadth first, until all vertices are found: `queue` has them in order, `distance` is -1 where
/// there is no path. Returns the number of links visited.
std::int64_t Arbitrary::Table::search(Rank root, std::vector<int>& distance,
                                      std::vector<Rank>& queue) const {
  const std::size_t vertices = first.size() - 1;
  distance.assign(vertices, -1);
  distance[root] = 0;
  queue.assign(1, root);
  std::int64_t looked_at = 0;
  for (std::size_t i = 0; i < queue.size() && queue.size() < vertices; ++i) {
    const Rank at = queue[i];
    looked_at += first[at + 1] - first[at];
    for (auto link = first[at]; link < first[at + 1]; ++link) {
      if (distance[to[link]] >= 0) continue;
      distance[to[link]] = distance[at] + 1;
      queue.push_back(to[link]);
    }
  }
  return looked_at;
}

/// Across the cable above vertex v, everything below v is one nearer and everything else one
/// farther.
GraphDistances Arbitrary::Table::distances_in_tree() const {
  const auto nodes = static_cast<std::int64_t>(order.size());
  std::vector<Rank> above(order.size(), -1);
  std::vector<std::int64_t> below(order.size(), 1);
  GraphDistances all{std::vector<std::int64_t>(order.size(), 0), 0};
  std::vector<int> depth(order.size(), 0), height(order.size(), 0);
  for (const Rank v : order) {
    for (auto link = first[v]; link < first[v + 1]; ++link) {
      if (is_up(link)) above[v] = to[link];
    }
    if (above[v] >= 0) depth[v] = depth[above[v]] + 1;
    all.status[0] += depth[v];
  }
  for (auto v = order.rbegin(); v + 1 != order.rend(); ++v) {
    const Rank p = above[*v];
    below[p] += below[*v];
    all.diameter = std::max(all.diameter, height[p] + height[*v] + 1);
    height[p] = std::max(height[p], height[*v] + 1);
  }
  for (const Rank v : order) {
    if (above[v] >= 0) all.status[v] = all.status[above[v]] + nodes - 2 * below[v];
  }
  return all;
}

std::optional<GraphDistances> Arbitrary::Table::all_distances() const {
  if (is_tree()) return distances_in_tree();
  const auto nodes = static_cast<std::int64_t>(order.size());
  GraphDistances all{std::vector<std::int64_t>(order.size(), 0), 0};
  std::vector<int> distance;
  std::vector<Rank> queue;
  std::int64_t work = 0;
  for (Rank v = 0; v < nodes; ++v) {
    work += search(v, distance, queue) + nodes;
    for (const int d : distance) all.status[v] += d;
    all.diameter = std::max(all.diameter, distance[queue.back()]);
    if (group != nullptr) {  // all vertices are alike
      std::ranges::fill(all.status, all.status[0]);
      break;
    }
    const bool known_rate = v >= 63 || v + 1 == nodes;  // stop early if it cannot finish in time
    if (known_rate && work / (v + 1) * nodes > max_distance_work) return std::nullopt;
  }
  return all;
}

}  // namespace wormcube::shapes
