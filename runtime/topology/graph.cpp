// One dimension of a product network: links in closed form, tables for trees and arbitrary graphs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/graph.hpp"

#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/topology/cayley.hpp"
#include "wormcube/runtime/topology/graph_table.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <numeric>

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

// A graph's next-hop table has two entries for each pair of nodes: 256 MB at this many.
constexpr Rank max_routed_nodes = 8192;
// Vertices times links that the table's construction may look at: some seconds.
constexpr std::int64_t max_routing_work = std::int64_t{1} << 30;

Rank checked(Shape shape, Rank nodes) {
  if (nodes < 1 || nodes > max_nodes) {
    throw UsageError(fmt::format("{}:{}: {} nodes; expected 1 to {}", to_string(shape), nodes,
                                 nodes, max_nodes));
  }
  return nodes;
}

/// The levels (up links) between a balanced tree's root and its deepest leaf.
int depth(Rank leaves) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(leaves - 1)));
}

}  // namespace

Graph Graph::line(Rank nodes) { return {Shape::line, checked(Shape::line, nodes)}; }
Graph Graph::ring(Rank nodes) { return {Shape::ring, checked(Shape::ring, nodes)}; }
Graph Graph::complete(Rank nodes) { return {Shape::complete, checked(Shape::complete, nodes)}; }

Graph Graph::tree(Rank leaves) {
  Graph graph(Shape::tree, checked(Shape::tree, leaves));
  const auto table = std::make_shared<Table>();
  for (auto* column : {&table->parent, &table->low, &table->high, &table->left, &table->right}) {
    column->assign(2 * static_cast<std::size_t>(leaves) - 1, -1);
  }
  Rank unused_switch = leaves;
  table->grow(0, leaves, unused_switch);
  graph.table_ = table;
  return graph;
}

Graph Graph::arbitrary(Rank nodes, const std::vector<std::pair<Rank, Rank>>& edges,
                       std::string name) {
  if (name.empty()) name = "graph";
  if (nodes < 1 || nodes > max_nodes) {
    throw UsageError(fmt::format("{}: {} nodes; expected 1 to {}", name, nodes, max_nodes));
  }
  return tabled(nodes, edges, std::move(name), {}, nullptr);
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
  return tabled(nodes, edges, std::move(name), std::move(note),
                std::make_shared<const CayleyStructure>(std::move(group)));
}

Graph Graph::tabled(Rank nodes, const std::vector<std::pair<Rank, Rank>>& edges, std::string name,
                    std::string note, std::shared_ptr<const CayleyStructure> group) {
  Graph graph(Shape::graph, nodes);
  const auto table = std::make_shared<Table>();
  table->name = std::move(name);
  table->note = std::move(note);
  table->group = std::move(group);
  table->connect(nodes, edges);
  table->orient(nodes);
  graph.table_ = table;
  return graph;
}

Rank Graph::vertices() const { return shape_ == Shape::tree ? 2 * nodes_ - 1 : nodes_; }

std::int64_t Graph::links() const {
  const std::int64_t n = nodes_;
  switch (shape_) {
    case Shape::line:
      return 2 * (n - 1);
    case Shape::ring:
      return wraps() ? 2 * n : 2 * (n - 1);
    case Shape::complete:
      return n * (n - 1);
    case Shape::tree:
      return 2 * (2 * n - 2);
    case Shape::graph:
      return static_cast<std::int64_t>(table_->to.size());
  }
  return 0;
}

std::string Graph::name() const {
  return shape_ == Shape::graph ? table_->name : fmt::format("{}:{}", to_string(shape_), nodes_);
}

const std::string& Graph::note() const {
  static const std::string none;
  return shape_ == Shape::graph ? table_->note : none;
}

bool operator==(const Graph& a, const Graph& b) {
  if (a.nodes_ != b.nodes_) return false;
  if (a.has_direction() && b.has_direction() && a.nodes_ <= 2) return true;  // one cable, or none
  if (a.shape_ != b.shape_) return false;
  if (a.shape_ != Shape::graph || a.table_ == b.table_) return true;
  return a.table_->first == b.table_->first && a.table_->to == b.table_->to;
}

std::shared_ptr<const CayleyStructure> Graph::cayley() const {
  std::vector<Rank> generators;
  switch (shape_) {
    case Shape::graph:
      return table_->group;
    case Shape::line:
      if (nodes_ > 2) return nullptr;
      [[fallthrough]];
    case Shape::ring:
      if (nodes_ > 1) generators = {1};
      break;
    case Shape::complete:
      generators.resize(nodes_ - 1);
      std::iota(generators.begin(), generators.end(), 1);
      break;
    case Shape::tree:
      return nullptr;
  }
  return std::make_shared<const CayleyStructure>(CayleyStructure::cyclic(nodes_, generators));
}

Graph::Ends Graph::ends(std::int64_t link) const {
  WORMCUBE_ASSERT(link >= 0 && link < links());
  switch (shape_) {
    case Shape::line:
    case Shape::ring: {
      const Rank plus_links = wraps() ? nodes_ : nodes_ - 1;
      const auto number = static_cast<Rank>(link % plus_links);
      const Rank above = number + 1 == nodes_ ? 0 : number + 1;
      if (link < plus_links) return {number, above};
      return wraps() ? Ends{number, number == 0 ? nodes_ - 1 : number - 1} : Ends{above, number};
    }
    case Shape::complete: {
      const auto from = static_cast<Rank>(link / (nodes_ - 1));
      const auto other = static_cast<Rank>(link % (nodes_ - 1));
      return {from, other < from ? other : other + 1};
    }
    case Shape::tree: {
      const Rank up_links = 2 * nodes_ - 2;
      const auto child = static_cast<Rank>(link % up_links);
      const Rank parent = table_->parent[child];
      return link < up_links ? Ends{child, parent} : Ends{parent, child};
    }
    case Shape::graph:
      return {table_->from[link], table_->to[link]};
  }
  return {-1, -1};
}

int Graph::ports(Rank vertex) const {
  WORMCUBE_ASSERT(vertex >= 0 && vertex < vertices());
  switch (shape_) {
    case Shape::line:
    case Shape::ring:
      return wraps() ? 2 : (vertex + 1 < nodes_ ? 1 : 0) + (vertex > 0 ? 1 : 0);
    case Shape::complete:
      return nodes_ - 1;
    case Shape::tree:
      return (table_->parent[vertex] >= 0 ? 1 : 0) + (table_->left[vertex] >= 0 ? 2 : 0);
    case Shape::graph:
      return static_cast<int>(table_->first[vertex + 1] - table_->first[vertex]);
  }
  return 0;
}

std::int64_t Graph::link(Rank vertex, int port) const {
  WORMCUBE_ASSERT(port >= 0 && port < ports(vertex));
  switch (shape_) {
    case Shape::line:
    case Shape::ring:
      if (wraps()) return port == 0 ? vertex : nodes_ + vertex;
      return port == 0 && vertex + 1 < nodes_ ? vertex : nodes_ - 1 + vertex - 1;
    case Shape::complete:
      return static_cast<std::int64_t>(vertex) * (nodes_ - 1) + port;
    case Shape::tree: {
      if (table_->parent[vertex] < 0) ++port;  // the root has no way up
      if (port == 0) return vertex;
      const Rank child = port == 1 ? table_->left[vertex] : table_->right[vertex];
      return 2 * nodes_ - 2 + child;
    }
    case Shape::graph:
      return table_->first[vertex] + port;
  }
  return -1;
}

int Graph::hops(Rank from, Rank to) const {
  WORMCUBE_ASSERT(has_direction());
  if (!wraps()) return to - from;
  const Rank plus = to >= from ? to - from : to - from + nodes_;
  return plus <= nodes_ - plus ? plus : plus - nodes_;
}

Rank Graph::moved(Rank from, int hops) const {
  WORMCUBE_ASSERT(has_moves());
  if (hops <= -nodes_ || hops >= nodes_) return -1;
  if (nodes_ == 2 && hops != 0) return 1 - from;
  const Rank to = from + hops;
  if (to >= 0 && to < nodes_) return to;
  if (shape_ == Shape::line) return -1;
  return to < 0 ? to + nodes_ : to - nodes_;
}

std::int64_t Graph::next(Rank at, Rank to, bool& up) const {
  WORMCUBE_ASSERT(at != to && to >= 0 && to < nodes_);
  switch (shape_) {
    case Shape::line:
    case Shape::ring: {
      const bool plus = hops(at, to) > 0;
      if (wraps()) return plus ? at : nodes_ + at;
      return plus ? at : nodes_ - 1 + at - 1;
    }
    case Shape::complete:
      return static_cast<std::int64_t>(at) * (nodes_ - 1) + (to < at ? to : to - 1);
    case Shape::tree: {
      if (to < table_->low[at] || to >= table_->high[at]) return at;
      const Rank left = table_->left[at];
      return 2 * nodes_ - 2 + (to < table_->high[left] ? left : table_->right[at]);
    }
    case Shape::graph: {
      std::call_once(table_->routed, [this] {
        require_routable();
        table_->find_routes(nodes_);
      });
      const std::size_t entry = 2 * (static_cast<std::size_t>(to) * nodes_ + at) + (up ? 0 : 1);
      WORMCUBE_ASSERT(table_->next[entry] != Table::nowhere);
      const std::int64_t link = table_->first[at] + table_->next[entry];
      up = up && table_->is_up(link);
      return link;
    }
  }
  return -1;
}

bool Graph::routable() const {
  return shape_ != Shape::graph ||
         (nodes_ <= max_routed_nodes && nodes_ * links() <= max_routing_work);
}

void Graph::require_routable() const {
  if (routable()) return;
  throw UsageError(fmt::format(
      "{}: {} nodes and {} links; messages are routed in graphs of up to {} nodes, with "
      "nodes x links up to {} (`wormcube topology` takes larger ones)",
      name(), nodes_, links(), max_routed_nodes, max_routing_work));
}

std::int64_t Graph::routing_table_bytes() const {
  if (shape_ != Shape::graph) return 0;
  return 2 * std::int64_t{nodes_} * nodes_ * static_cast<std::int64_t>(sizeof(std::uint16_t));
}

bool Graph::goes_up(std::int64_t link) const {
  WORMCUBE_ASSERT(shape_ == Shape::tree || shape_ == Shape::graph);
  return shape_ == Shape::tree ? link < 2 * nodes_ - 2 : table_->is_up(link);
}

std::vector<std::pair<std::int64_t, std::int64_t>> Graph::turns() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> turns;
  if (shape_ != Shape::tree && shape_ != Shape::graph) return turns;
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
  if (shape_ != Shape::graph) return nullptr;
  std::call_once(table_->measured, [this] { table_->distances = table_->all_distances(); });
  return table_->distances ? &*table_->distances : nullptr;
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
  switch (shape_) {
    case Shape::line:
      return nodes_ - 1;
    case Shape::ring:
      return nodes_ / 2;
    case Shape::complete:
      return nodes_ > 1 ? 1 : 0;
    case Shape::tree:
      return nodes_ == 1 ? 0 : depth((nodes_ + 1) / 2) + depth(nodes_ / 2) + 2;
    case Shape::graph: {
      const Distances* all = distances();
      return all != nullptr ? std::optional(all->diameter) : std::nullopt;
    }
  }
  return 0;
}

}  // namespace wormcube
