// One dimension of a product network: forwards to its shape.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/graph.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/cayley.hpp"

#include <fmt/core.h>

namespace wormcube {

std::string_view to_string(Shape shape) {
  switch (shape) {
    case Shape::line:
      return "line";
    case Shape::ring:
      return "ring";
    case Shape::complete:
      return "complete";
    case Shape::tree:
      return "tree";
    case Shape::graph:
      return "graph";
  }
  return "";
}

namespace {

Rank checked(Shape shape, Rank nodes) {
  if (nodes < 1 || nodes > max_nodes) {
    throw UsageError(fmt::format("{}:{}: {} nodes; expected 1 to {}", to_string(shape), nodes,
                                 nodes, max_nodes));
  }
  return nodes;
}

}  // namespace

Graph Graph::line(Rank nodes) { return {shapes::Line{checked(Shape::line, nodes)}, nodes}; }
Graph Graph::ring(Rank nodes) { return {shapes::Ring{checked(Shape::ring, nodes)}, nodes}; }
Graph Graph::complete(Rank nodes) {
  return {shapes::Complete{checked(Shape::complete, nodes)}, nodes};
}
Graph Graph::tree(Rank leaves) { return {shapes::Tree(checked(Shape::tree, leaves)), leaves}; }

Graph Graph::arbitrary(Rank nodes, const std::vector<std::pair<Rank, Rank>>& edges,
                       std::string name) {
  if (name.empty()) name = "graph";
  if (nodes < 1 || nodes > max_nodes) {
    throw UsageError(fmt::format("{}: {} nodes; expected 1 to {}", name, nodes, max_nodes));
  }
  return {shapes::Arbitrary(nodes, edges, std::move(name), {}, nullptr), nodes};
}

Graph Graph::from_group(CayleyStructure group, std::string name, std::string note) {
  const Rank nodes = group.order;
  if (nodes < 1 || nodes > max_nodes) {
    throw UsageError(fmt::format("{}: {} nodes; expected 1 to {}", name, nodes, max_nodes));
  }
  std::vector<std::pair<Rank, Rank>> edges;
  edges.reserve(static_cast<std::size_t>(nodes) * group.generators.size() / 2);
  for (const Rank s : group.generators) {
    for (Rank g = 0; g < nodes; ++g) {
      const Rank to = group.product(g, s);  // and back by the inverse, which is a generator too
      if (g < to) edges.emplace_back(g, to);
    }
  }
  return {shapes::Arbitrary(nodes, edges, std::move(name), std::move(note),
                            std::make_shared<const CayleyStructure>(std::move(group))),
          nodes};
}

Rank Graph::vertices() const {
  const auto* const tree = std::get_if<shapes::Tree>(&shape_);
  return tree != nullptr ? tree->vertices() : nodes_;
}

std::int64_t Graph::links() const {
  return std::visit([](const auto& shape) { return shape.links(); }, shape_);
}

std::string Graph::name() const {
  const auto* const graph = std::get_if<shapes::Arbitrary>(&shape_);
  return graph != nullptr ? graph->name() : fmt::format("{}:{}", to_string(shape()), nodes_);
}

const std::string& Graph::note() const {
  static const std::string none;
  const auto* const graph = std::get_if<shapes::Arbitrary>(&shape_);
  return graph != nullptr ? graph->note() : none;
}

bool operator==(const Graph& a, const Graph& b) {
  if (a.nodes_ != b.nodes_) return false;
  if (a.has_direction() && b.has_direction() && a.nodes_ <= 2) return true;  // one cable, or none
  return a.shape_ == b.shape_;
}

std::shared_ptr<const CayleyStructure> Graph::cayley() const {
  return std::visit([](const auto& shape) { return shape.cayley(); }, shape_);
}

Graph::Ends Graph::ends(std::int64_t link) const {
  return std::visit([link](const auto& shape) { return shape.ends(link); }, shape_);
}

int Graph::ports(Rank vertex) const {
  WORMCUBE_ASSERT(vertex >= 0 && vertex < vertices());
  return std::visit([vertex](const auto& shape) { return shape.ports(vertex); }, shape_);
}

std::int64_t Graph::link(Rank vertex, int port) const {
  WORMCUBE_ASSERT(port >= 0 && port < ports(vertex));
  return std::visit([=](const auto& shape) { return shape.link(vertex, port); }, shape_);
}

int Graph::hops(Rank from, Rank to) const {
  const auto* const ring = std::get_if<shapes::Ring>(&shape_);
  WORMCUBE_ASSERT(ring != nullptr || shape() == Shape::line);
  return ring != nullptr ? ring->hops(from, to) : shapes::Line::hops(from, to);
}

Rank Graph::moved(Rank from, int hops) const {
  WORMCUBE_ASSERT(has_moves());
  if (hops <= -nodes_ || hops >= nodes_) return -1;
  if (nodes_ == 2 && hops != 0) return 1 - from;
  const Rank to = from + hops;
  if (to >= 0 && to < nodes_) return to;
  if (shape() == Shape::line) return -1;
  return to < 0 ? to + nodes_ : to - nodes_;
}

std::int64_t Graph::next(Rank at, Rank to, bool& up) const {
  WORMCUBE_ASSERT(at != to && to >= 0 && to < nodes_);
  return std::visit([&](const auto& shape) { return shape.next(at, to, up); }, shape_);
}

bool Graph::routable() const {
  const auto* const graph = std::get_if<shapes::Arbitrary>(&shape_);
  return graph == nullptr || graph->routable();
}

void Graph::require_routable() const {
  if (const auto* const graph = std::get_if<shapes::Arbitrary>(&shape_)) graph->require_routable();
}

std::int64_t Graph::routing_table_bytes() const {
  const auto* const graph = std::get_if<shapes::Arbitrary>(&shape_);
  return graph != nullptr ? graph->routing_table_bytes() : 0;
}

bool Graph::goes_up(std::int64_t link) const {
  if (const auto* const tree = std::get_if<shapes::Tree>(&shape_)) return tree->goes_up(link);
  const auto* const graph = std::get_if<shapes::Arbitrary>(&shape_);
  WORMCUBE_ASSERT(graph != nullptr);
  return graph->goes_up(link);
}

std::vector<std::pair<std::int64_t, std::int64_t>> Graph::turns() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> turns;
  if (shape() != Shape::tree && shape() != Shape::graph) return turns;
  for (std::int64_t in = 0; in < links(); ++in) {
    const auto [origin, vertex] = ends(in);
    for (int port = 0; port < ports(vertex); ++port) {
      const std::int64_t out = link(vertex, port);
      const bool back = ends(out).to == origin;
      if (!back && (goes_up(in) || !goes_up(out))) turns.emplace_back(in, out);
    }
  }
  return turns;
}

const Graph::Distances* Graph::distances() const {
  const auto* const graph = std::get_if<shapes::Arbitrary>(&shape_);
  return graph != nullptr ? graph->distances() : nullptr;
}

std::vector<int> Graph::distances_from(Rank vertex) const {
  WORMCUBE_ASSERT(vertex >= 0 && vertex < vertices());
  std::vector<int> distance(vertices(), -1);
  std::vector<Rank> queue{vertex};
  distance[vertex] = 0;
  for (std::size_t i = 0; i < queue.size() && queue.size() < distance.size(); ++i) {
    for (int port = 0; port < ports(queue[i]); ++port) {
      const Rank to = ends(link(queue[i], port)).to;
      if (distance[to] >= 0) continue;
      distance[to] = distance[queue[i]] + 1;
      queue.push_back(to);
    }
  }
  return distance;
}

std::optional<int> Graph::diameter() const {
  return std::visit([](const auto& shape) { return shape.diameter(); }, shape_);
}

}  // namespace wormcube
