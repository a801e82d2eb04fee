// Shared by the tests of topology and routing: sample graphs, and the textbook's shortest paths.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/families.hpp"
#include "wormcube/runtime/topology/graph.hpp"

#include <queue>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace wormcube::samples {

/// Arbitrary graphs for which the names say what is special.
inline Graph petersen() {
  return Graph::arbitrary(10,
                          {{0, 1},
                           {1, 2},
                           {2, 3},
                           {3, 4},
                           {4, 0},
                           {0, 5},
                           {1, 6},
                           {2, 7},
                           {3, 8},
                           {4, 9},
                           {5, 7},
                           {7, 9},
                           {9, 6},
                           {6, 8},
                           {8, 5}},
                          "petersen");
}

/// A ring of n with a chord through it, vertices numbered in a scrambled order.
inline Graph scrambled(Rank n) {
  if (n == 1) return Graph::arbitrary(1, {}, "scrambled:1");
  std::vector<std::pair<Rank, Rank>> edges;
  const auto label = [n](Rank v) { return n % 3 != 0 ? v * 3 % n : n - 1 - v; };
  for (Rank v = 0; v + 1 < n; ++v) edges.emplace_back(label(v), label(v + 1));
  if (n > 2) edges.emplace_back(label(n - 1), label(0));
  if (n > 4) edges.emplace_back(label(0), label(n / 2));
  return Graph::arbitrary(n, edges, "scrambled:" + std::to_string(n));
}

inline Graph star(Rank n) {
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank v = 0; v + 1 < n; ++v) edges.emplace_back(n - 1, v);
  return Graph::arbitrary(n, edges, "star:" + std::to_string(n));
}

/// Every shape in every small size.
inline std::vector<Graph> graphs() {
  std::vector<Graph> all{petersen()};
  for (const Rank n : {1, 2, 3, 4, 5, 7, 8}) {
    for (auto* shape : {Graph::line, Graph::ring, Graph::complete, Graph::tree, scrambled, star}) {
      all.push_back(shape(n));
    }
  }
  return all;
}

/// Hops from one vertex to all others, breadth first.
inline std::vector<int> distances(const Graph& graph, Rank from) {
  std::vector<int> distance(graph.vertices(), -1);
  std::queue<Rank> queue;
  distance[from] = 0;
  queue.push(from);
  for (; !queue.empty(); queue.pop()) {
    const Rank at = queue.front();
    for (int port = 0; port < graph.ports(at); ++port) {
      const Rank to = graph.ends(graph.link(at, port)).to;
      if (distance[to] >= 0) continue;
      distance[to] = distance[at] + 1;
      queue.push(to);
    }
  }
  return distance;
}

/// Topologies of every kind, with degenerate dimensions among them, and products.
inline std::vector<std::string> texts() {
  std::vector<std::string> texts;
  for (const NetworkKind& kind : network_kinds()) {
    std::istringstream samples{std::string(kind.samples)};
    for (std::string text; samples >> text;) texts.push_back(text);
  }
  for (const char* product :
       {"petersen*ring:3", "line:2*ccc:2*complete:3", "ring:4*line:3", "torus:3x4*line:2",
        "tree:5*ring:4", "line:3*tree:3*complete:3", "ring:3*complete:4*tree:2"}) {
    texts.emplace_back(product);
  }
  return texts;
}

}  // namespace wormcube::samples
