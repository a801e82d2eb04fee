// Combs through products, searches in graphs, and two cycles of a torus.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/ring_order.hpp"

#include "wormcube/runtime/base/recently_made.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace wormcube {

namespace {

using Nodes = std::vector<Rank>;

Nodes in_rank_order(Rank nodes) {
  Nodes order(static_cast<std::size_t>(nodes));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// The load of the busiest link, and the longest and total paths of the messages round an order.
struct Figures {
  int load = 0, longest_hop = 0;
  std::int64_t links = 0;
};

Figures figures_of(const Topology& topology, const Nodes& order) {
  Figures figures;
  if (order.size() < 2) return figures;
  const Routing routing(topology);
  std::vector<int> loads(static_cast<std::size_t>(topology.links()), 0);
  std::vector<Channel> path;
  for (std::size_t i = 0; i < order.size(); ++i) {
    path.clear();
    routing.route(order[i], order[(i + 1) % order.size()], path);
    figures.longest_hop = std::max(figures.longest_hop, static_cast<int>(path.size()));
    figures.links += std::ssize(path);
    for (const Channel channel : path) {
      figures.load =
          std::max(figures.load, ++loads[static_cast<std::size_t>(routing.link(channel))]);
    }
  }
  return figures;
}

/// The neighbours of each node of an arbitrary graph, ascending.
std::vector<Nodes> neighbours_in(const Graph& graph) {
  std::vector<Nodes> neighbours(static_cast<std::size_t>(graph.nodes()));
  for (Rank v = 0; v < graph.nodes(); ++v) {
    for (int port = 0; port < graph.ports(v); ++port) {
      neighbours[static_cast<std::size_t>(v)].push_back(
          static_cast<Rank>(graph.ends(graph.link(v, port)).to));
    }
    std::ranges::sort(neighbours[static_cast<std::size_t>(v)]);
  }
  return neighbours;
}

/// A Hamiltonian path from node 0, depth first: the neighbour with the fewest unvisited neighbours
/// first, then the lowest. Gives up after 10^6 visits.
std::optional<Nodes> hamiltonian(const std::vector<Nodes>& neighbours, bool is_cycle) {
  constexpr int most_looks = 1'000'000;
  const std::size_t nodes = neighbours.size();
  std::vector<bool> visited(nodes, false);
  const auto unvisited = [&](Rank v) {
    return std::ranges::count_if(neighbours[static_cast<std::size_t>(v)],
                                 [&](Rank w) { return !visited[static_cast<std::size_t>(w)]; });
  };
  Nodes path{0};
  std::vector<Nodes> choices;  // for each node of the path: where it may continue, the best last
  visited[0] = true;
  const auto look_around = [&] {
    Nodes& next = choices.emplace_back();
    for (const Rank w : neighbours[static_cast<std::size_t>(path.back())]) {
      if (!visited[static_cast<std::size_t>(w)]) next.push_back(w);
    }
    std::ranges::sort(next, [&](Rank a, Rank b) {
      return std::pair(unvisited(a), a) > std::pair(unvisited(b), b);
    });
  };
  look_around();
  for (int looks = 0; looks < most_looks; ++looks) {
    if (path.size() == nodes) {
      const Nodes& last = neighbours[static_cast<std::size_t>(path.back())];
      if (!is_cycle || nodes < 3 || std::ranges::find(last, 0) != last.end()) return path;
    }
    while (choices.back().empty()) {
      choices.pop_back();
      visited[static_cast<std::size_t>(path.back())] = false;
      path.pop_back();
      if (path.empty()) return std::nullopt;
    }
    path.push_back(choices.back().back());
    choices.back().pop_back();
    visited[static_cast<std::size_t>(path.back())] = true;
    look_around();
  }
  return std::nullopt;
}

/// The depth-first preorder of the tree that a breadth-first search from node 0 finds.
Nodes preorder_of_tree(const std::vector<Nodes>& neighbours) {
  const std::size_t nodes = neighbours.size();
  std::vector<Nodes> children(nodes);
  std::vector<bool> found(nodes, false);
  Nodes queue{0};
  found[0] = true;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Rank w : neighbours[static_cast<std::size_t>(queue[i])]) {
      if (found[static_cast<std::size_t>(w)]) continue;
      found[static_cast<std::size_t>(w)] = true;
      children[static_cast<std::size_t>(queue[i])].push_back(w);
      queue.push_back(w);
    }
  }
  Nodes order, stack{0};
  while (!stack.empty()) {
    const Rank v = stack.back();
    stack.pop_back();
    order.push_back(v);
    const Nodes& below = children[static_cast<std::size_t>(v)];
    stack.insert(stack.end(), below.rbegin(), below.rend());
  }
  return order;
}

/// One dimension's nodes in the order of its ring; whether consecutive nodes are neighbours, and
/// whether the last and the first are.
struct Walk {
  Nodes nodes;
  bool is_path = true, closes = false;
};

Walk walk_of_graph(const Graph& graph) {
  const std::vector<Nodes> neighbours = neighbours_in(graph);
  if (auto cycle = hamiltonian(neighbours, true)) return {std::move(*cycle), true, true};
  const Topology alone({graph});
  std::vector<std::pair<Nodes, bool>> candidates{{in_rank_order(graph.nodes()), false},
                                                 {preorder_of_tree(neighbours), false}};
  if (auto path = hamiltonian(neighbours, false)) candidates.emplace_back(std::move(*path), true);
  const bool has_path = candidates.size() == 3;
  std::optional<std::pair<int, std::int64_t>> least;
  Walk best;
  for (auto& [order, is_path] : candidates) {
    const Figures figures = figures_of(alone, order);
    const std::pair cost(figures.load, figures.links);
    if (least && cost >= *least) continue;
    least = cost;
    best.nodes = std::move(order);
  }
  best.is_path = has_path;
  return best;
}

Walk walk_of(const Graph& graph) {
  switch (graph.shape()) {
    case Shape::line:
      return {in_rank_order(graph.nodes()), true, graph.nodes() == 2};
    case Shape::ring:
    case Shape::complete:
      return {in_rank_order(graph.nodes()), true, true};
    case Shape::tree:
      return {in_rank_order(graph.nodes()), true, graph.nodes() > 2};
    case Shape::graph:
      break;
  }
  return walk_of_graph(graph);
}

/// Offsets of ranks that visit all combinations of some dimensions: the first is the slowest, each
/// next one goes back and forth.
Nodes snake(const Topology& topology, const std::vector<Walk>& walks,
            const std::vector<int>& dimensions) {
  Nodes order{0};
  for (const int d : dimensions) {
    const Nodes& along = walks[static_cast<std::size_t>(d)].nodes;
    Nodes longer;
    longer.reserve(order.size() * along.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = 0; j < along.size(); ++j) {
        const Rank coordinate = along[i % 2 == 0 ? j : along.size() - 1 - j];
        longer.push_back(order[i] + coordinate * topology.stride(d));
      }
    }
    order = std::move(longer);
  }
  return order;
}

/// Rows over all columns but the first, back and forth, and back through the first column.
Nodes comb(const Nodes& rows, const Nodes& columns, bool is_odd) {
  const std::size_t r = rows.size(), c = columns.size();
  Nodes order{rows[0] + columns[0]};
  const std::size_t single = is_odd ? r - 2 : r;
  for (std::size_t i = 0; i < single; ++i) {
    for (std::size_t j = 1; j < c; ++j) {
      order.push_back(rows[i] + columns[i % 2 == 0 ? j : c - j]);
    }
  }
  if (is_odd) {  // the last two rows together, back from the last column
    for (std::size_t j = c - 1; j > 0; --j) {
      const bool down = (c - 1 - j) % 2 == 0;
      order.push_back(rows[down ? r - 2 : r - 1] + columns[j]);
      order.push_back(rows[down ? r - 1 : r - 2] + columns[j]);
    }
  }
  for (std::size_t i = r - 1; i > 0; --i) order.push_back(rows[i] + columns[0]);
  return order;
}

Nodes order_of_product(const Topology& topology, const std::vector<int>& dimensions) {
  std::vector<Walk> walks;
  for (int d = 0; d < topology.dimensions(); ++d) walks.push_back(walk_of(topology.factor(d)));
  const auto walk = [&](int d) -> const Walk& { return walks[static_cast<std::size_t>(d)]; };
  if (dimensions.size() == 1) return walk(dimensions[0]).nodes;
  if (!std::ranges::all_of(dimensions, [&](int d) { return walk(d).is_path; })) {
    return in_rank_order(topology.nodes());
  }
  const auto even =
      std::ranges::find_if(dimensions, [&](int d) { return topology.size(d) % 2 == 0; });
  const auto loop =
      std::find_if(dimensions.rbegin(), dimensions.rend(), [&](int d) { return walk(d).closes; });
  std::vector<int> rows, columns;
  const bool is_odd = even == dimensions.end() && loop == dimensions.rend();
  for (const int d : dimensions) {
    const bool is_row = even != dimensions.end()    ? d == *even
                        : loop != dimensions.rend() ? d != *loop
                                                    : d == dimensions.front();
    (is_row ? rows : columns).push_back(d);
  }
  return comb(snake(topology, walks, rows), snake(topology, walks, columns), is_odd);
}

RingOrder::Kind kind_of(const Topology& topology, const std::vector<int>& dimensions,
                        int longest_hop) {
  const auto any = [&](Shape shape) {
    return std::ranges::any_of(dimensions,
                               [&](int d) { return topology.factor(d).shape() == shape; });
  };
  if (longest_hop <= 1) return RingOrder::Kind::cycle;
  if (any(Shape::graph)) return RingOrder::Kind::search;
  if (any(Shape::tree)) return RingOrder::Kind::tour;
  return dimensions.size() == 1 ? RingOrder::Kind::line : RingOrder::Kind::near_cycle;
}

}  // namespace

std::string_view to_string(RingOrder::Kind kind) {
  switch (kind) {
    case RingOrder::Kind::cycle:
      return "cycle";
    case RingOrder::Kind::near_cycle:
      return "near-cycle";
    case RingOrder::Kind::line:
      return "line";
    case RingOrder::Kind::tour:
      return "tour";
    case RingOrder::Kind::search:
      return "search";
  }
  return {};
}

RingOrder ring_order(const Topology& topology) {
  topology.require_routable();
  std::vector<int> dimensions;  // of one node a dimension has no link
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) > 1) dimensions.push_back(d);
  }
  RingOrder result;
  result.nodes = dimensions.empty() ? Nodes{0} : order_of_product(topology, dimensions);
  result.positions.resize(result.nodes.size());
  for (std::size_t i = 0; i < result.nodes.size(); ++i) {
    result.positions[static_cast<std::size_t>(result.nodes[i])] = static_cast<Rank>(i);
  }
  const Figures figures = figures_of(topology, result.nodes);
  result.load = figures.load;
  result.longest_hop = figures.longest_hop;
  result.kind = kind_of(topology, dimensions, figures.longest_hop);
  return result;
}

std::shared_ptr<const RingOrder> shared_ring_order(const Topology& topology) {
  static RecentlyMade<Topology, RingOrder> made;
  return made(topology, [&] { return ring_order(topology); });
}

namespace {

/// Two edge-disjoint cycles of a torus of `rows` x `columns`, 3 <= rows <= columns, as two
/// neighbours of each node. The row cycles and the column cycles are joined, gap by gap between
/// columns, by one square whose horizontal edges change to the column cycles and whose vertical
/// ones to the row cycles.
class TorusCycles {
 public:
  TorusCycles(Rank rows, Rank columns) : rows_(rows), columns_(columns) {
    for (Rank i = 0; i < rows; ++i) {
      for (Rank j = 0; j < columns; ++j) {
        beside_[0].push_back({at(i, j - 1), at(i, j + 1)});
        beside_[1].push_back({at(i - 1, j), at(i + 1, j)});
      }
    }
    const Rank gaps = rows % 2 == 0 && columns % 2 == 1 ? columns : columns - 1;
    for (Rank j = 0; j < gaps; ++j) {
      const Rank e = j - rows + 1;
      const bool far = rows % 2 == 1 && columns % 2 == 0;
      exchange(j < rows - 1 ? j : far ? (e % 2 == 0 ? rows - 1 : 0) : e % 2, j);
    }
  }

  /// From node 0, first to the lower neighbour.
  Nodes walk(int cycle) const {
    const auto& beside = beside_[cycle];
    Nodes order{0};
    Rank before = -1, at = 0;
    do {
      const auto& [a, b] = beside[static_cast<std::size_t>(at)];
      const Rank next = before < 0 ? std::min(a, b) : a == before ? b : a;
      before = std::exchange(at, next);
      if (at != 0) order.push_back(at);
    } while (at != 0);
    return order;
  }

 private:
  Rank at(Rank i, Rank j) const {
    return (i + rows_) % rows_ * columns_ + (j + columns_) % columns_;
  }
  void replace(int cycle, Rank node, Rank old, Rank now) {
    auto& [a, b] = beside_[cycle][static_cast<std::size_t>(node)];
    (a == old ? a : b) = now;
  }
  void exchange(Rank i, Rank j) {
    const Rank a = at(i, j), b = at(i, j + 1), c = at(i + 1, j), d = at(i + 1, j + 1);
    for (const auto& [node, across, down] :
         {std::tuple(a, b, c), std::tuple(b, a, d), std::tuple(c, d, a), std::tuple(d, c, b)}) {
      replace(0, node, across, down);
      replace(1, node, down, across);
    }
  }

  Rank rows_, columns_;
  std::vector<std::pair<Rank, Rank>> beside_[2];  // of each node, in the cycle
};

}  // namespace

std::vector<Nodes> disjoint_cycles(const Topology& topology) {
  std::vector<int> dimensions;
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) > 1) dimensions.push_back(d);
  }
  if (dimensions.empty() || dimensions.size() > 2) return {};
  for (const int d : dimensions) {
    if (!topology.factor(d).wraps()) return {};
  }
  std::vector<Nodes> cycles;
  const auto add_both_ways = [&](Nodes order) {
    Nodes back = order;
    std::reverse(back.begin() + 1, back.end());
    cycles.push_back(std::move(order));
    cycles.push_back(std::move(back));
  };
  if (dimensions.size() == 1) {
    add_both_ways(in_rank_order(topology.nodes()));
    return cycles;
  }
  const Rank r = topology.size(dimensions[0]), c = topology.size(dimensions[1]);
  const bool transposed = r > c;
  const TorusCycles pair(std::min(r, c), std::max(r, c));
  for (const int which : {0, 1}) {
    Nodes order = pair.walk(which);
    if (transposed) {
      for (Rank& node : order) node = node % r * c + node / r;
    }
    add_both_ways(std::move(order));
  }
  return cycles;
}

}  // namespace wormcube
