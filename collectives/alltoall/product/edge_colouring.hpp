// Colouring the edges of a bipartite multigraph with as few colours as its largest degree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/graph.hpp"

#include <span>
#include <utility>
#include <vector>

namespace wormcube {

/// Colours so that edges with a common end differ; as many as the largest degree (Koenig, 1916).
struct EdgeColouring {
  int colours = 0;
  std::vector<int> colour;  ///< by edge
};
/// \param edges  (left, right) vertices, 0 .. left-1 and 0 .. right-1; repeated edges are allowed
EdgeColouring colour_edges(Rank left, Rank right, std::span<const std::pair<Rank, Rank>> edges);

}  // namespace wormcube
