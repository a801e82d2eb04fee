// Edge colouring by alternating paths.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/edge_colouring.hpp"

#include <algorithm>

namespace wormcube {

EdgeColouring colour_edges(Rank left, Rank right, std::span<const std::pair<Rank, Rank>> edges) {
  // Right vertices follow the left ones.
  const auto end = [&](std::size_t edge, bool second) {
    return second ? left + edges[edge].second : edges[edge].first;
  };
  std::vector<int> degree(static_cast<std::size_t>(left) + right, 0);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    for (const bool side : {false, true}) ++degree[end(e, side)];
  }
  EdgeColouring result;
  result.colours = degree.empty() ? 0 : std::ranges::max(degree);
  result.colour.assign(edges.size(), -1);
  const auto colours = static_cast<std::size_t>(result.colours);
  std::vector<int> edge_at(degree.size() * colours, -1);  // by vertex and colour
  const auto at = [&](Rank vertex, int colour) -> int& {
    return edge_at[static_cast<std::size_t>(vertex) * colours + colour];
  };
  const auto free_colour = [&](Rank vertex) {
    int colour = 0;
    while (at(vertex, colour) >= 0) ++colour;
    return colour;
  };

  std::vector<int> path;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const Rank u = end(e, false), v = end(e, true);
    const int a = free_colour(u), b = free_colour(v);
    if (at(v, a) >= 0) {
      // The path from v by colours a, b, a, .. cannot reach u, where a is free: exchange them.
      path.clear();
      Rank vertex = v;
      for (int colour = a; at(vertex, colour) >= 0; colour = colour == a ? b : a) {
        const int edge = at(vertex, colour);
        path.push_back(edge);
        vertex = end(edge, vertex < left);
      }
      for (const int edge : path) {
        for (const bool side : {false, true}) at(end(edge, side), result.colour[edge]) = -1;
      }
      for (const int edge : path) {
        int& colour = result.colour[edge];
        colour = colour == a ? b : a;
        for (const bool side : {false, true}) at(end(edge, side), colour) = edge;
      }
    }
    result.colour[e] = a;
    at(u, a) = at(v, a) = static_cast<int>(e);
  }
  return result;
}

}  // namespace wormcube
