// Max-flows through the links of a network (Boost.Graph).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <boost/graph/adjacency_list.hpp>

namespace wormcube::theory {

/// A capacity that no cut reaches.
inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 4;

/// All vertices of a product, switches after the nodes, and its links.
struct Vertices {
  explicit Vertices(const Topology& topology);

  Rank nodes = 0, all = 0;
  std::vector<Graph::Ends> links;
};

/// Max-flow between two vertices of a directed graph, whose capacities may change in between.
class FlowNetwork {
 public:
  explicit FlowNetwork(Rank vertices)
      : graph_(static_cast<std::size_t>(vertices)), reached_(vertices) {}

  /// An arc; \return its number, for capacity().
  std::size_t add(Rank from, Rank to, std::int64_t capacity);
  void capacity(std::size_t arc, std::int64_t capacity) { graph_[arcs_[arc]].capacity = capacity; }

  std::int64_t flow(Rank from, Rank to);
  /// After flow(): what an arc carries; whether a vertex is on the source's side of a smallest cut.
  std::int64_t flow_on(std::size_t arc) const {
    return graph_[arcs_[arc]].capacity - graph_[arcs_[arc]].residual;
  }
  bool on_source_side(Rank vertex) const { return reached_[vertex] != 0; }

 private:
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using Edge = Traits::edge_descriptor;
  struct Arc {
    std::int64_t capacity = 0, residual = 0;
    Edge back;
  };
  using Arcs =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Arc>;

  Arcs graph_;
  std::vector<char> reached_;
  std::vector<Edge> arcs_;
};

/// The fewest links whose removal separates node 0 from another one.
std::int64_t smallest_cut(const Vertices& vertices);

/// Whether this many max-flows through this many links take some tenths of a second at most.
bool affordable(std::int64_t flows, std::int64_t links);

}  // namespace wormcube::theory
