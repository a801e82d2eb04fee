// What a graph without closed forms knows of itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/cayley.hpp"
#include "wormcube/runtime/topology/graph.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wormcube {

/// What has no closed form. A tree uses the first group, an arbitrary graph the second.
struct Graph::Table {
  // Tree, by vertex: the leaves below it are low .. high-1. Leaves have no children, the root no
  // parent: -1.
  std::vector<Rank> parent, low, high, left, right;

  // Graph. The links of vertex v are first[v] .. first[v+1]-1, by ascending neighbour.
  std::string name, note;
  std::shared_ptr<const CayleyStructure> group;
  std::vector<std::int64_t> first;
  std::vector<Rank> from, to;  // by link
  std::vector<Rank> order;     // each up link leads to an earlier vertex of this order
  std::vector<Rank> place;     // of each vertex, in it
  bool is_up(std::int64_t link) const { return place[to[link]] < place[from[link]]; }

  // Made when first asked for. The port to leave by: entry 2*(to*n + at) before the first down
  // link, the next one after it.
  mutable std::once_flag routed, measured;
  mutable std::vector<std::uint16_t> next;
  static constexpr std::uint16_t nowhere = std::numeric_limits<std::uint16_t>::max();
  mutable std::optional<Distances> distances;

  /// Adds the subtree over these leaves, children first, and returns its root.
  Rank grow(Rank lo, Rank hi, Rank& unused_switch) {
    if (hi - lo == 1) {
      low[lo] = lo;
      high[lo] = hi;
      return lo;
    }
    const Rank middle = lo + (hi - lo + 1) / 2;
    const Rank l = grow(lo, middle, unused_switch);
    const Rank r = grow(middle, hi, unused_switch);
    const Rank root = unused_switch++;
    parent[l] = parent[r] = root;
    left[root] = l;
    right[root] = r;
    low[root] = lo;
    high[root] = hi;
    return root;
  }

  void connect(Rank nodes, const std::vector<std::pair<Rank, Rank>>& edges);
  void orient(Rank nodes);
  void find_routes(Rank nodes) const;
  bool is_tree() const { return to.size() + 2 == 2 * order.size(); }
  std::int64_t search(Rank root, std::vector<int>& distance, std::vector<Rank>& queue) const;
  Distances distances_in_tree() const;
  std::optional<Distances> all_distances() const;
};

}  // namespace wormcube
