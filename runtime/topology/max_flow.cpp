// Vertices of products, arcs, and cuts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/max_flow.hpp"

#include <algorithm>

#include <boost/graph/push_relabel_max_flow.hpp>

namespace wormcube::theory {

Vertices::Vertices(const Topology& topology) : nodes(topology.nodes()), all(topology.nodes()) {
  std::vector<Rank> first_switch;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    first_switch.push_back(all);
    all += nodes / graph.nodes() * (graph.vertices() - graph.nodes());
  }
  links.reserve(topology.links());
  for (Link link = 0; link < topology.links(); ++link) {
    const auto [d, line, inner] = topology.place(link);
    const Graph& graph = topology.factor(d);
    const auto number = [&, d = d, line = line](Rank vertex) {
      if (vertex < graph.nodes()) return topology.on_line(d, line, vertex);
      return first_switch[d] + line * (graph.vertices() - graph.nodes()) + vertex - graph.nodes();
    };
    const Graph::Ends ends = graph.ends(inner);
    links.push_back({number(ends.from), number(ends.to)});
  }
}

std::size_t FlowNetwork::add(Rank from, Rank to, std::int64_t capacity) {
  const Edge edge = boost::add_edge(from, to, graph_).first,
             back = boost::add_edge(to, from, graph_).first;
  graph_[edge] = {capacity, 0, back};
  graph_[back] = {0, 0, edge};
  arcs_.push_back(edge);
  return arcs_.size() - 1;
}

std::int64_t FlowNetwork::flow(Rank from, Rank to) {
  const std::int64_t most = boost::push_relabel_max_flow(
      graph_, from, to, boost::get(&Arc::capacity, graph_), boost::get(&Arc::residual, graph_),
      boost::get(&Arc::back, graph_), boost::get(boost::vertex_index, graph_));
  std::ranges::fill(reached_, 0);
  reached_[from] = 1;
  std::vector<std::size_t> queue{static_cast<std::size_t>(from)};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (auto [edge, end] = boost::out_edges(queue[i], graph_); edge != end; ++edge) {
      const std::size_t next = boost::target(*edge, graph_);
      if (graph_[*edge].residual == 0 || reached_[next] != 0) continue;
      reached_[next] = 1;
      queue.push_back(next);
    }
  }
  return most;
}

std::int64_t smallest_cut(const Vertices& vertices) {
  FlowNetwork network(vertices.all);
  for (const auto& [from, to] : vertices.links) network.add(from, to, 1);
  std::int64_t least = unlimited;
  for (Rank to = 1; to < vertices.nodes; ++to) least = std::min(least, network.flow(0, to));
  return least;
}

bool affordable(std::int64_t flows, std::int64_t links) {
  constexpr std::int64_t most = 1 << 22;  // flows times links
  return flows <= most / std::max<std::int64_t>(links, 1);
}

}  // namespace wormcube::theory
