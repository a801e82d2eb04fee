// Bounds by cuts: closed forms first, then max-flow (Boost.Graph) with Newton's method on the ratio.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/flows.hpp"

#include "wormcube/runtime/topology/cayley.hpp"
#include "wormcube/runtime/topology/kept.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

namespace wormcube::theory {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 4;
/// Max-flows times links that are affordable: some tenths of a second.
constexpr std::int64_t flow_work = 1 << 22;

/// All vertices of a product, switches after the nodes, and its links.
struct Vertices {
  Rank nodes = 0, all = 0;
  std::vector<Graph::Ends> links;

  explicit Vertices(const Topology& topology) : nodes(topology.nodes()), all(topology.nodes()) {
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
};

/// Max-flow between two vertices of a directed graph, whose capacities may change in between.
class FlowNetwork {
 public:
  explicit FlowNetwork(Rank vertices)
      : graph_(static_cast<std::size_t>(vertices)), reached_(vertices) {}

  /// An arc; \return its number, for capacity().
  std::size_t add(Rank from, Rank to, std::int64_t capacity) {
    const Edge edge = boost::add_edge(from, to, graph_).first,
               back = boost::add_edge(to, from, graph_).first;
    graph_[edge] = {capacity, 0, back};
    graph_[back] = {0, 0, edge};
    arcs_.push_back(edge);
    return arcs_.size() - 1;
  }
  void capacity(std::size_t arc, std::int64_t capacity) { graph_[arcs_[arc]].capacity = capacity; }

  std::int64_t flow(Rank from, Rank to) {
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
  /// After flow(): whether a vertex is on the source's side of a smallest cut.
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

bool has_switches(const Topology& topology) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).vertices() != topology.factor(d).nodes()) return true;
  }
  return false;
}

/// Fewest and most links out of a node.
std::pair<int, int> degrees(const Topology& topology) {
  int least = 0, most = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    int fewest = graph.ports(0), highest = fewest;
    for (Rank v = 1; v < graph.nodes(); ++v) {
      fewest = std::min(fewest, graph.ports(v));
      highest = std::max(highest, graph.ports(v));
    }
    least += fewest;
    most += highest;
  }
  return {least, most};
}

/// The fewest links that part node 0 from another one.
std::int64_t smallest_cut(const Vertices& vertices) {
  FlowNetwork network(vertices.all);
  for (const auto& [from, to] : vertices.links) network.add(from, to, 1);
  std::int64_t least = unlimited;
  for (Rank to = 1; to < vertices.nodes; ++to) least = std::min(least, network.flow(0, to));
  return least;
}

bool affordable(std::int64_t flows, std::int64_t links) {
  return flows <= flow_work / std::max<std::int64_t>(links, 1);
}

std::optional<std::int64_t> edge_connectivity(const Graph& graph) {
  switch (graph.shape()) {
    case Shape::line:
    case Shape::tree:
      return 1;
    case Shape::ring:
      return graph.wraps() ? 2 : 1;
    case Shape::complete:
      return graph.nodes() - 1;
    case Shape::graph:
      break;
  }
  if (graph.links() == 2 * (std::int64_t{graph.nodes()} - 1)) return 1;  // a tree
  // Of a graph that looks the same from each node it is the degree (W. Mader, 1971).
  if (graph.cayley() != nullptr) return graph.ports(0);
  if (!affordable(graph.nodes(), graph.links())) return std::nullopt;
  static Kept<std::int64_t> kept;
  return kept(graph, [&] { return smallest_cut(Vertices(Topology({graph}))); });
}

/// Where cuts are too many for flows: the fewest ports of a node, the worst known of each dimension.
struct KnownCut {
  Rank inside;  // nodes of the smaller part
  std::int64_t cables;
};
std::vector<KnownCut> known_cuts(const Topology& topology) {
  std::vector<KnownCut> cuts{{1, degrees(topology).first}};
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    if (graph.nodes() == 1) continue;
    const CutBound cut = cut_bound(graph);
    const Rank lines = topology.nodes() / graph.nodes();
    cuts.push_back({cut.part * lines, cut.cables * lines});
  }
  return cuts;
}

}  // namespace

std::optional<std::int64_t> edge_connectivity(const Topology& topology) {
  const Rank n = topology.nodes();
  if (n == 1) return std::nullopt;
  int dimensions = 0;
  for (int d = 0; d < topology.dimensions(); ++d) dimensions += topology.size(d) > 1 ? 1 : 0;
  if (has_switches(topology) && dimensions > 1) {
    if (!affordable(n, topology.links())) return std::nullopt;
    return smallest_cut(Vertices(topology));
  }
  // All copies of a dimension are cut, or one node is cut off.
  std::int64_t least = degrees(topology).first;
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) == 1) continue;
    const auto cables = edge_connectivity(topology.factor(d));
    if (!cables) return std::nullopt;
    least = std::min(least, *cables * (n / topology.size(d)));
  }
  return least;
}

LinkBound broadcast_bound(const Topology& topology) {
  if (topology.nodes() == 1) return {0, true, "one node"};
  if (const auto cables = edge_connectivity(topology)) {
    return {1.0 / static_cast<double>(*cables), true, "edge connectivity"};
  }
  std::int64_t cables = unlimited;
  for (const KnownCut& cut : known_cuts(topology)) cables = std::min(cables, cut.cables);
  return {1.0 / static_cast<double>(cables), false, "cut"};
}

LinkBound allgather_bound(const Topology& topology) {
  const Rank n = topology.nodes();
  if (n == 1) return {0, true, "one node"};
  // At most n - 1 blocks lie outside, at least edge_connectivity links lead inside.
  const int ports = degrees(topology).first;
  if (edge_connectivity(topology) == ports)
    return {static_cast<double>(n - 1) / ports, true, "ports"};
  const std::vector<std::int64_t> blocks(n, 1);
  return gathering_bound(topology, blocks);
}

LinkBound gathering_bound(const Topology& topology, std::span<const std::int64_t> blocks, Rank to) {
  const Rank n = topology.nodes();
  if (n == 1) return {0, true, "one node"};
  const std::int64_t all = std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
  // In time more / cables: what node v lacks over its links.
  Rational time = 0;
  std::string_view source = "ports";
  for (Rank v = to < 0 ? 0 : to; v < (to < 0 ? n : to + 1); ++v) {
    time = std::max(time, Rational(all - blocks[v], topology.ports(v)));
  }
  const std::int64_t inside = to < 0 ? *std::ranges::min_element(blocks) : blocks[to];
  const auto connectivity = edge_connectivity(topology);
  if (connectivity && time >= Rational(all - inside, *connectivity)) {
    return {time.value(), true, source};
  }
  if (!affordable(to < 0 ? n : 1, topology.links() + n)) {
    if (to < 0 && all == n) {
      for (const KnownCut& cut : known_cuts(topology)) {
        const Rational other(n - cut.inside, cut.cables);
        if (other > time) time = other, source = "cut";
      }
    }
    return {time.value(), false, source};
  }
  // Within time a / b all blocks reach v if b of each block flow there over links of a. If not, the
  // smallest cut needs more time: a larger time to go on with.
  const Vertices vertices(topology);
  FlowNetwork network(vertices.all + 1);
  const Rank origin = vertices.all;
  for (Rank v = 0; v < n; ++v) network.add(origin, v, 0);
  for (const auto& [from, end] : vertices.links) network.add(from, end, 0);
  const auto set_time = [&] {
    for (Rank v = 0; v < n; ++v) network.capacity(v, blocks[v] * time.denominator());
    for (std::size_t i = 0; i < vertices.links.size(); ++i) {
      network.capacity(n + i, time.numerator());
    }
  };
  set_time();
  for (Rank v = to < 0 ? 0 : to; v < (to < 0 ? n : to + 1); ++v) {
    while (network.flow(origin, v) < all * time.denominator()) {
      std::int64_t outside = 0, links = 0;
      for (Rank u = 0; u < n; ++u) outside += network.on_source_side(u) ? blocks[u] : 0;
      for (const auto& [from, end] : vertices.links) {
        links += network.on_source_side(from) && !network.on_source_side(end) ? 1 : 0;
      }
      time = Rational(outside, links);
      source = "max-flow";
      set_time();
    }
  }
  return {time.value(), true, source};
}

namespace {

/// A partition of the nodes that minimises (cables between parts) - strength x (parts - 1), for
/// strength b / a: greedily, node by node (Barahona), by a cut each. Nothing if no partition makes
/// it negative; else (parts, cables).
std::optional<std::pair<Rank, std::int64_t>> weakest_partition(const Vertices& vertices,
                                                               const Rational& time) {
  const Rank n = vertices.nodes;
  const std::int64_t a = time.numerator(), b = time.denominator();
  FlowNetwork network(n + 2);
  const Rank from = n, rest = n + 1;
  std::vector<std::size_t> gain, loss;  // arcs from the source, to the sink
  for (Rank v = 0; v < n; ++v) {
    gain.push_back(network.add(from, v, 0));
    loss.push_back(network.add(v, rest, unlimited));  // later nodes are outside
  }
  for (const auto& [u, v] : vertices.links) network.add(u, v, a);
  std::vector<std::int64_t> weight(n, 0);
  std::vector<Rank> part(n);
  std::int64_t gains = 0, sum = 0;
  for (Rank v = 0; v < n; ++v) {
    network.capacity(gain[v], unlimited);
    network.capacity(loss[v], 0);
    weight[v] = network.flow(from, rest) - gains - 2 * b;
    sum += weight[v];
    std::vector<char> merged(n, 0);  // the parts that the smallest set with v meets
    for (Rank u = 0; u < v; ++u) {
      if (network.on_source_side(u)) merged[part[u]] = 1;
    }
    for (Rank u = 0; u < v; ++u) {
      if (merged[part[u]] != 0) part[u] = v;
    }
    part[v] = v;
    network.capacity(gain[v], std::max<std::int64_t>(weight[v], 0));
    network.capacity(loss[v], std::max<std::int64_t>(-weight[v], 0));
    gains += std::max<std::int64_t>(weight[v], 0);
  }
  if (sum >= -2 * b) return std::nullopt;
  std::vector<char> is_part(n, 0);
  for (const Rank p : part) is_part[p] = 1;
  std::int64_t links = 0;
  for (const auto& [u, v] : vertices.links) links += part[u] != part[v] ? 1 : 0;
  return std::pair(static_cast<Rank>(std::ranges::count(is_part, 1)), links / 2);
}

}  // namespace

LinkBound allreduce_bound(const Topology& topology) {
  const Rank n = topology.nodes();
  if (n == 1) return {0, true, "one node"};
  const LinkBound single = broadcast_bound(topology);
  // Each of n - 1 blocks is combined with another, and each of n - 1 nodes gets the result: 2 (n - 1)
  // blocks leave nodes in all.
  std::int64_t ports = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    std::int64_t of_line = 0;
    for (Rank v = 0; v < graph.nodes(); ++v) of_line += graph.ports(v);
    ports += of_line * (n / graph.nodes());
  }
  const Rational every(2 * (std::int64_t{n} - 1), ports);
  LinkBound best =
      every.value() >= single.blocks ? LinkBound{every.value(), false, "links"} : single;
  best.tight = false;
  if (has_switches(topology)) return best;
  const auto [least, most] = degrees(topology);
  const auto connectivity = edge_connectivity(topology);
  // k parts have at least k x connectivity / 2 cables between them.
  if (connectivity && *connectivity == most) return {every.value(), true, "links"};
  if (!affordable(n, topology.links() + 2 * n)) return best;
  Rational time = every;
  if (connectivity) time = std::max(time, Rational(1, *connectivity));
  const Vertices vertices(topology);
  while (const auto parts = weakest_partition(vertices, time)) {
    const Rational more(parts->first - 1, parts->second);
    if (more <= time) return {time.value(), false, "strength"};
    time = more;
    best.source = "strength";
  }
  return {time.value(), true, time == every ? "links" : best.source};
}

namespace {

std::atomic<ExchangeProgram> exchange_program = nullptr;

/// What the busiest link carries if each block goes to equal parts along all shortest ways.
/// Source: U. Brandes, A faster algorithm for betweenness centrality, 2001.
double evenly_routed(const Graph& graph) {
  const Rank n = graph.nodes();
  std::vector<double> load(graph.links(), 0), ways(n), passing(n);
  std::vector<Rank> order(n);
  const bool alike = graph.cayley() != nullptr;
  for (Rank from = 0; from < n; ++from) {
    const std::vector<int> distance = graph.distances_from(from);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](Rank v) { return distance[v]; });
    std::ranges::fill(ways, 0);
    std::ranges::fill(passing, 1);
    ways[from] = 1;
    for (const Rank v : order) {
      for (int port = 0; port < graph.ports(v); ++port) {
        const Rank next = graph.ends(graph.link(v, port)).to;
        if (distance[next] == distance[v] + 1) ways[next] += ways[v];
      }
    }
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
      for (int port = 0; port < graph.ports(*v); ++port) {
        const std::int64_t link = graph.link(*v, port);
        const Rank next = graph.ends(link).to;
        if (distance[next] != distance[*v] + 1) continue;
        const double share = ways[*v] / ways[next] * passing[next];
        load[link] += share;
        passing[*v] += share;
      }
    }
    if (alike) break;
  }
  if (!alike) return *std::ranges::max_element(load);
  // From each node the same: a link has the sum of what its generator's links carry from one.
  const auto group = graph.cayley();
  std::vector<double> of_generator(n, 0);
  for (std::int64_t link = 0; link < graph.links(); ++link) {
    const auto [from, to] = graph.ends(link);
    of_generator[group->product(group->inverse(from), to)] += load[link];
  }
  return *std::ranges::max_element(of_generator);
}

/// Whether searches from so many nodes of a graph take some tenths of a second at most.
bool searchable(const Graph& graph) {
  const std::int64_t searches = graph.cayley() != nullptr ? 1 : graph.nodes();
  return searches <= (std::int64_t{1} << 23) / graph.links();
}

LinkBound arbitrary_exchange_bound(const Graph& graph) {
  const Topology alone({graph});
  const CutBound cut = cut_bound(graph);
  LinkBound bound{cut.steps.value(), false, "cut"};
  if (graph.links() == 2 * (std::int64_t{graph.nodes()} - 1)) {
    bound.tight = true;  // one way between any two nodes
    return bound;
  }
  if (graph.distances() != nullptr) {
    if (const double links = links_bound(alone).value(); links > bound.blocks) {
      bound = {links, false, "links"};
    }
  }
  constexpr double rounding = 1e-9;
  if (searchable(graph) && evenly_routed(graph) <= bound.blocks * (1 + rounding)) {
    bound.tight = true;
    return bound;
  }
  if (const ExchangeProgram program = exchange_program; program != nullptr) {
    if (const auto solved = program(graph);
        solved && solved->blocks > bound.blocks * (1 - rounding)) {
      return *solved;
    }
  }
  return bound;
}

LinkBound exchange_bound(const Graph& graph) {
  const double n = graph.nodes();
  switch (graph.shape()) {
    case Shape::line:
    case Shape::tree:
      return {cut_bound(graph).steps.value(), true, "cut"};
    case Shape::ring:  // half of what is half way round goes either way
      return graph.wraps() ? LinkBound{std::floor(n * n / 4) / 2, true, "links"}
                           : LinkBound{1, true, "cut"};
    case Shape::complete:
      return {1, true, "links"};
    case Shape::graph:
      break;
  }
  static Kept<LinkBound> kept;
  return kept(graph, [&] { return arbitrary_exchange_bound(graph); });
}

}  // namespace

void use_exchange_program(ExchangeProgram program) { exchange_program = program; }

LinkBound exchange_bound(const Topology& topology) {
  const Rank n = topology.nodes();
  LinkBound best{0, true, "one node"};
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) == 1) continue;
    LinkBound bound = exchange_bound(topology.factor(d));
    bound.blocks *= static_cast<double>(n / topology.size(d));
    // Not tight: another dimension may need more than is known of it.
    bound.tight = bound.tight && best.tight;
    best.tight = bound.tight;
    if (bound.blocks > best.blocks) best = bound;
  }
  return best;
}

}  // namespace wormcube::theory
