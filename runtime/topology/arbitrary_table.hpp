// The tables of an arbitrary graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/shapes.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wormcube::shapes {

struct Arbitrary::Table {
  // The links of vertex v are first[v] .. first[v+1]-1, by ascending neighbour.
  std::string name, note;
  std::shared_ptr<const CayleyStructure> group;
  std::vector<std::int64_t> first;
  std::vector<Rank> from, to;  // by link
  std::vector<Rank> order;     // each up link leads to an earlier vertex of this order
  std::vector<Rank> place;     // of each vertex, in it
  bool is_up(std::int64_t link) const { return place[to[link]] < place[from[link]]; }

  // Built on first use. The port to leave by: entry 2*(to*n + at) before the first down link, the
  // next one after it.
  mutable std::once_flag routed, measured;
  mutable std::vector<std::uint16_t> next;
  static constexpr std::uint16_t nowhere = std::numeric_limits<std::uint16_t>::max();
  mutable std::optional<GraphDistances> distances;

  void connect(Rank nodes, const std::vector<std::pair<Rank, Rank>>& edges);
  void orient(Rank nodes);
  void find_routes(Rank nodes) const;
  bool is_tree() const { return to.size() + 2 == 2 * order.size(); }
  std::int64_t search(Rank root, std::vector<int>& distance, std::vector<Rank>& queue) const;
  GraphDistances distances_in_tree() const;
  std::optional<GraphDistances> all_distances() const;
};

}  // namespace wormcube::shapes
