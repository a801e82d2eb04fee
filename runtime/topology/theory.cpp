// Status and bounds of graphs in closed form or by search, and of products from their factors.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/theory.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/kept.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

__extension__ using Wide = __int128;

Rational narrowed(Wide numerator, Wide denominator) {
  Wide a = numerator < 0 ? -numerator : numerator, b = denominator;
  while (b != 0) a = std::exchange(b, a % b);
  numerator /= a;
  denominator /= a;
  constexpr Wide most = std::numeric_limits<std::int64_t>::max();
  if (numerator > most || numerator < -most || denominator > most) {
    throw std::overflow_error("a fraction does not fit into 64 bits");
  }
  return {static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator)};
}

}  // namespace

Rational::Rational(std::int64_t numerator, std::int64_t denominator) {
  WORMCUBE_ASSERT(denominator != 0);
  const std::int64_t divisor = std::gcd(numerator, denominator) * (denominator < 0 ? -1 : 1);
  numerator_ = numerator / divisor;
  denominator_ = denominator / divisor;
}

double Rational::value() const {
  return static_cast<double>(numerator_) / static_cast<double>(denominator_);
}

std::int64_t Rational::ceil() const {
  return numerator_ / denominator_ + (numerator_ % denominator_ > 0 ? 1 : 0);
}

std::string Rational::text() const {
  return denominator_ == 1 ? fmt::format("{}", numerator_)
                           : fmt::format("{}/{}", numerator_, denominator_);
}

Rational operator+(const Rational& a, const Rational& b) {
  return narrowed(Wide{a.numerator_} * b.denominator_ + Wide{b.numerator_} * a.denominator_,
                  Wide{a.denominator_} * b.denominator_);
}

Rational operator*(const Rational& a, const Rational& b) {
  return narrowed(Wide{a.numerator_} * b.numerator_, Wide{a.denominator_} * b.denominator_);
}

Rational operator/(const Rational& a, const Rational& b) {
  return a * Rational(b.denominator_, b.numerator_);
}

std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
  return Wide{a.numerator_} * b.denominator_ <=> Wide{b.numerator_} * a.denominator_;
}

namespace theory {

namespace {

std::optional<std::string> excludes(const Graph& graph) {
  if (graph.vertices() == graph.nodes()) return std::nullopt;
  return fmt::format(
      "{} has {} inner vertices that only switch; status and bounds are for networks whose "
      "vertices are all nodes",
      graph.name(), graph.vertices() - graph.nodes());
}

void require_nodes_only(const Graph& graph) {
  if (const auto reason = excludes(graph)) throw UsageError(*reason);
}

const Graph::Distances& distances(const Graph& graph) {
  const Graph::Distances* all = graph.distances();
  if (all == nullptr) {
    throw UsageError(
        fmt::format("{}: the distances between all of {} nodes with {} links take too long to find",
                    graph.name(), graph.nodes(), graph.links()));
  }
  return *all;
}

/// The largest |V1| |V2| / cables found yet.
struct Best {
  CutBound cut;
  void consider(Rank part, Rank other, std::int64_t cables) {
    const std::int64_t messages = std::int64_t{part} * other;
    if (Wide{messages} * cut.steps.denominator() <= Wide{cables} * cut.steps.numerator()) return;
    cut = {Rational(messages, cables), std::min(part, other), cables, -1, cut.searched};
  }
};

/// All cuts of up to 20 nodes, each from the one before it by one node that changes sides.
CutBound of_all_cuts(const std::vector<std::uint32_t>& neighbours) {
  const auto nodes = static_cast<Rank>(neighbours.size());
  Best best;
  std::uint32_t side = 0;  // the last node stays on the other one
  std::int64_t cables = 0;
  for (std::uint32_t i = 1; i < 1U << (nodes - 1); ++i) {
    const int v = std::countr_zero(i);
    const std::uint32_t bit = 1U << v;
    const int degree = std::popcount(neighbours[v]), within = std::popcount(neighbours[v] & side);
    cables += side & bit ? 2 * within - degree : degree - 2 * within;
    side ^= bit;
    const Rank part = std::popcount(side);
    best.consider(part, nodes - part, cables);
  }
  return best.cut;
}

/// A tree's best cut removes one cable: below the end that is farther from node 0.
CutBound of_a_tree(const Graph& graph) {
  Best best;
  const std::vector<int> depth = graph.distances_from(0);
  std::vector<Rank> order(graph.nodes()), below(graph.nodes(), 1);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::greater{}, [&](Rank v) { return depth[v]; });
  for (const Rank v : order) {
    for (int port = 0; port < graph.ports(v); ++port) {
      const Rank parent = graph.ends(graph.link(v, port)).to;
      if (depth[parent] > depth[v]) continue;
      below[parent] += below[v];
      best.consider(below[v], graph.nodes() - below[v], 1);
    }
  }
  return best.cut;
}

/// Each prefix of this order of the vertices against the rest.
void consider_prefixes(const Graph& graph, const std::vector<Rank>& order, Best& best) {
  std::vector<bool> inside(graph.nodes(), false);
  std::int64_t cables = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    inside[order[i]] = true;
    for (int port = 0; port < graph.ports(order[i]); ++port) {
      cables += inside[graph.ends(graph.link(order[i], port)).to] ? -1 : 1;
    }
    const auto part = static_cast<Rank>(i + 1);
    best.consider(part, graph.nodes() - part, cables);
  }
}

/// Too many cuts for all: single nodes; the first vertices by number; and, for as many nodes as
/// time allows, balls around them, and the set of vertices nearer to them than to a neighbour.
CutBound of_some_cuts(const Graph& graph) {
  const Rank n = graph.nodes();
  Best best;
  best.cut.searched = CutBound::Searched::some;
  std::vector<Rank> order(n);
  std::iota(order.begin(), order.end(), 0);
  consider_prefixes(graph, order, best);
  for (Rank v = 0; v < n; ++v) best.consider(1, n - 1, graph.ports(v));
  constexpr std::int64_t work = 1 << 24;  // links to visit: some tenths of a second
  const std::int64_t balls = std::clamp<std::int64_t>(work / graph.links(), 2, n);
  const bool halves = balls * graph.links() / n * graph.links() <= work;
  for (std::int64_t i = 0; i < balls; ++i) {
    const auto centre = static_cast<Rank>(n * i / balls);
    const std::vector<int> distance = graph.distances_from(centre);
    std::ranges::sort(order, {}, [&](Rank v) { return std::pair(distance[v], v); });
    consider_prefixes(graph, order, best);
    for (int port = 0; halves && port < graph.ports(centre); ++port) {
      const std::vector<int> other = graph.distances_from(graph.ends(graph.link(centre, port)).to);
      std::ranges::sort(order, {},
                        [&](Rank v) { return std::tuple(distance[v] - other[v], distance[v], v); });
      consider_prefixes(graph, order, best);
    }
  }
  return best.cut;
}

/// A graph's `links` numbered as neighbours of small networks: bit w of entry v.
template <class Network>
std::vector<std::uint32_t> neighbour_bits(const Network& network, Rank nodes) {
  std::vector<std::uint32_t> bits(nodes, 0);
  for (std::int64_t link = 0; link < network.links(); ++link) {
    Graph::Ends ends{};
    if constexpr (std::is_same_v<Network, Graph>) {
      ends = network.ends(link);
    } else {
      ends = network.link_ends(link);
    }
    bits[ends.from] |= 1U << ends.to;
  }
  return bits;
}

constexpr Rank max_exhausted = 20;

CutBound of_arbitrary(const Graph& graph) {
  const std::int64_t n = graph.nodes();
  if (graph.links() == 2 * (n - 1)) return of_a_tree(graph);
  if (n <= max_exhausted) return of_all_cuts(neighbour_bits(graph, graph.nodes()));
  if (graph.links() == n * (n - 1)) return cut_bound(Graph::complete(graph.nodes()));
  bool is_ring = graph.links() == 2 * n;
  for (Rank v = 0; is_ring && v < n; ++v) is_ring = graph.ports(v) == 2;
  if (is_ring) return cut_bound(Graph::ring(graph.nodes()));
  static Kept<CutBound> kept;
  return kept(graph, [&] { return of_some_cuts(graph); });
}

/// 1 + 2 + .. + n
std::int64_t triangle(std::int64_t n) { return n * (n + 1) / 2; }

}  // namespace

std::optional<std::string> excludes(const Topology& topology) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (auto reason = excludes(topology.factor(d))) return reason;
  }
  return std::nullopt;
}

std::int64_t status(const Graph& graph, Rank node) {
  require_nodes_only(graph);
  const std::int64_t n = graph.nodes();
  switch (graph.shape()) {
    case Shape::line:
      return triangle(node) + triangle(n - 1 - node);
    case Shape::ring:
      return n * n / 4;
    case Shape::complete:
      return n - 1;
    case Shape::tree:
      return 0;  // one node: others are excluded
    case Shape::graph:
      return distances(graph).status[node];
  }
  return 0;
}

std::int64_t status(const Topology& topology, Rank rank) {
  std::int64_t sum = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const std::int64_t lines = topology.nodes() / topology.size(d);
    sum += lines * status(topology.factor(d), topology.coordinate(rank, d));
  }
  return sum;
}

StatusRange status_range(const Graph& graph) {
  const Rank n = graph.nodes();
  if (graph.shape() == Shape::graph) {
    const auto [least, most] = std::ranges::minmax(distances(graph).status);
    return {least, most};
  }
  return {status(graph, n / 2), status(graph, 0)};  // a line's middle and end; else all are alike
}

StatusRange status_range(const Topology& topology) {
  StatusRange sum{0, 0};
  for (int d = 0; d < topology.dimensions(); ++d) {
    const std::int64_t lines = topology.nodes() / topology.size(d);
    const auto [least, most] = status_range(topology.factor(d));
    sum.least += lines * least;
    sum.most += lines * most;
  }
  return sum;
}

Rational average_status(const Graph& graph) {
  const std::int64_t n = graph.nodes();
  if (graph.shape() == Shape::line) return Rational(n * n - 1, 3);
  if (graph.shape() != Shape::graph) return status(graph, 0);
  const std::vector<std::int64_t>& all = distances(graph).status;
  return Rational(std::accumulate(all.begin(), all.end(), std::int64_t{0}), n);
}

Rational average_status(const Topology& topology) {
  Rational sum;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Rank lines = topology.nodes() / topology.size(d);
    sum = sum + Rational(lines) * average_status(topology.factor(d));
  }
  return sum;
}

Rational average_distance(const Topology& topology) {
  const Rank n = topology.nodes();
  return n == 1 ? Rational(0) : average_status(topology) / Rational(n - 1);
}

CutBound cut_bound(const Graph& graph) {
  const Rank n = graph.nodes(), half = n / 2, rest = n - half;
  if (n == 1) return {};
  const Rational halves(std::int64_t{half} * rest);
  switch (graph.shape()) {
    case Shape::line:
    case Shape::tree:  // the root's cables each have one half of the leaves below
      return {halves, half, 1};
    case Shape::ring:
      return graph.wraps() ? CutBound{halves / 2, half, 2} : CutBound{halves, half, 1};
    case Shape::complete:
      return {1, half, std::int64_t{half} * rest};
    case Shape::graph:
      return of_arbitrary(graph);
  }
  return {};
}

CutBound cut_bound(const Topology& topology) {
  const Rank n = topology.nodes();
  CutBound best;
  int dimensions = 0;  // with more than one node
  bool all = true;
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) == 1) continue;
    ++dimensions;
    const Rank lines = n / topology.size(d);
    CutBound cut = cut_bound(topology.factor(d));
    all = all && cut.searched == CutBound::Searched::all;
    cut.steps = cut.steps * Rational(lines);
    if (cut.steps > best.steps) {
      best = {cut.steps, cut.part * lines, cut.cables * lines, d, cut.searched};
    }
  }
  if (dimensions > 1) {
    best.searched = all ? CutBound::Searched::dimensions : CutBound::Searched::some;
    if (n <= max_exhausted && !excludes(topology)) {
      CutBound any = of_all_cuts(neighbour_bits(topology, n));
      best.searched = CutBound::Searched::all;
      if (any.steps > best.steps) best = any;
    }
  }
  return best;
}

std::optional<std::int64_t> tree_bound(const Topology& topology) {
  if (const auto reason = excludes(topology)) throw UsageError(*reason);
  const std::int64_t n = topology.nodes();
  if (n == 1) return 0;
  const Graph* graph = nullptr;  // the one factor that is more than a node
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) == 1) continue;
    if (topology.size(d) != n) return std::nullopt;
    graph = &topology.factor(d);
  }
  if (graph->links() != 2 * (n - 1)) return std::nullopt;
  // Of the messages between the other n - 1 nodes those pass whose ends lie in different parts.
  const std::vector<int> depth = graph->distances_from(0);
  std::vector<Rank> order(n);
  std::vector<std::int64_t> below(n, 1), squares(n, 0);  // of the sizes of the parts below a node
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::greater{}, [&](Rank v) { return depth[v]; });
  std::int64_t most = 0;
  for (const Rank v : order) {
    const std::int64_t above = n - below[v];
    most = std::max(most, n - 1 + (n - 1) * (n - 1) - squares[v] - above * above);
    for (int port = 0; port < graph->ports(v); ++port) {
      const Rank parent = graph->ends(graph->link(v, port)).to;
      if (depth[parent] > depth[v]) continue;
      below[parent] += below[v];
      squares[parent] += below[v] * below[v];
    }
  }
  return most;
}

Rational links_bound(const Topology& topology) {
  if (topology.nodes() == 1) return 0;
  return Rational(topology.nodes()) * average_status(topology) / Rational(topology.links());
}

Bound one_port_bound(const Topology& topology) {
  Bound best{average_status(topology), "average status (3)"};
  if (const auto tree = tree_bound(topology); tree && Rational(*tree) > best.steps) {
    best = {*tree, "tree"};
  }
  if (const Rational cut = cut_bound(topology).steps; cut > best.steps) best = {cut, "cut (4)"};
  return best;
}

Bound all_port_bound(const Topology& topology) {
  Bound best{cut_bound(topology).steps, "cut (4)"};
  if (const Rational links = links_bound(topology); links > best.steps) best = {links, "links"};
  return best;
}

}  // namespace theory

}  // namespace wormcube
