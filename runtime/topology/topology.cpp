// A network as a product of graphs: its numbers, its links, its names.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/topology.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>
#include <fmt/format.h>

namespace wormcube {

namespace {

std::string joined_names(const std::vector<Graph>& factors) {
  if (factors.empty()) return "hypercube:0";  // one node, no dimension
  std::string name;
  for (const Graph& factor : factors) {
    if (!name.empty()) name += '*';
    name += factor.name();
  }
  return name;
}

/// "ring of 8": a dimension's graph in an error message.
std::string in_words(const Graph& factor) {
  switch (factor.shape()) {
    case Shape::line:
      return fmt::format("line of {}", factor.nodes());
    case Shape::ring:
      return fmt::format("ring of {}", factor.nodes());
    case Shape::complete:
      return fmt::format("complete graph of {}", factor.nodes());
    case Shape::tree:
      return fmt::format("tree of {} leaves", factor.nodes());
    case Shape::graph:
      return fmt::format("{} of {}", factor.name(), factor.nodes());
  }
  return {};
}

}  // namespace

Topology::Topology(std::vector<Graph> factors, std::string name)
    : factors_(std::move(factors)), name_(std::move(name)) {
  if (name_.empty()) name_ = joined_names(factors_);
  std::int64_t nodes = 1;
  for (std::size_t d = factors_.size(); d-- > 0;) {
    const auto stride = static_cast<Rank>(nodes);
    nodes *= factors_[d].nodes();
    if (nodes > max_nodes) {
      throw UsageError(fmt::format("topology '{}' has more than {} nodes", name_, max_nodes));
    }
    cuts_.push_back(
        {Divisor(stride), Divisor(factors_[d].nodes()), Divisor(static_cast<Rank>(nodes))});
  }
  std::ranges::reverse(cuts_);
  nodes_ = static_cast<Rank>(nodes);
  link_bases_.push_back(0);
  for (const Graph& factor : factors_) {
    link_bases_.push_back(link_bases_.back() + nodes_ / factor.nodes() * factor.links());
  }
}

std::string Topology::describe() const {
  std::string notes;
  for (int d = 0; d < dimensions(); ++d) {
    const Graph& factor = factors_[d];
    const bool cable = factor.nodes() == 2 && factor.links() == 2 && factor.shape() != Shape::line;
    const std::string_view what = factor.nodes() == 1 ? "has no link"
                                  : cable             ? "is one cable"
                                                      : std::string_view(factor.note());
    if (what.empty()) continue;
    notes += cable || factor.nodes() == 1
                 ? fmt::format("{} dimension {} {} ({})", notes.empty() ? ":" : ";", d, what,
                               in_words(factor))
                 : fmt::format("{} dimension {}: {}", notes.empty() ? ":" : ";", d, what);
  }
  return name_ + notes;
}

std::vector<Rank> Topology::sizes() const {
  std::vector<Rank> sizes;
  for (const Graph& factor : factors_) sizes.push_back(factor.nodes());
  return sizes;
}

std::vector<Rank> Topology::coordinates(Rank rank) const {
  std::vector<Rank> coordinates(factors_.size());
  for (int d = 0; d < dimensions(); ++d) coordinates[d] = coordinate(rank, d);
  return coordinates;
}

Rank Topology::rank(std::span<const Rank> coordinates) const {
  WORMCUBE_ASSERT(coordinates.size() == factors_.size());
  Rank rank = 0;
  for (int d = 0; d < dimensions(); ++d) {
    WORMCUBE_ASSERT(coordinates[d] >= 0 && coordinates[d] < size(d));
    rank += coordinates[d] * stride(d);
  }
  return rank;
}

Rank Topology::neighbour(Rank rank, int dimension, int hops) const {
  if (dimension < 0 || dimension >= dimensions()) {
    throw UsageError(fmt::format(
        "{}: node {} cannot move {:+} in dimension {}: {}", name_, rank, hops, dimension,
        factors_.empty() ? "there is no dimension"
                         : fmt::format("dimensions are 0 to {}", dimensions() - 1)));
  }
  if (rank < 0 || rank >= nodes_) {
    throw UsageError(fmt::format("{}: node {} cannot move {:+} in dimension {}: nodes are 0 to {}",
                                 name_, rank, hops, dimension, nodes_ - 1));
  }
  const Graph& graph = factors_[dimension];
  if (!graph.has_moves()) {
    throw UsageError(
        fmt::format("{}: node {} cannot move {:+} in dimension {}: a {} has no direction; name the "
                    "peer by rank",
                    name_, rank, hops, dimension, in_words(graph)));
  }
  const Rank from = coordinate(rank, dimension), to = graph.moved(from, hops);
  if (to < 0) {
    throw UsageError(fmt::format(
        "{}: node {} cannot move {:+} in dimension {}: it is at {} of a {}{}", name_, rank, hops,
        dimension, from, in_words(graph),
        graph.shape() == Shape::line ? "" : fmt::format(", once round is {}", graph.nodes())));
  }
  return rank + (to - from) * stride(dimension);
}

bool Topology::is_hypercube() const {
  return std::ranges::all_of(factors_, [](const Graph& factor) {
    return factor.nodes() == 2 && (factor.has_direction() || factor.shape() == Shape::complete);
  });
}

bool Topology::all(Shape shape) const {
  return std::ranges::all_of(factors_, [shape](const Graph& factor) {
    const bool line_or_ring = shape == Shape::line || shape == Shape::ring;
    return factor.shape() == shape ||
           (line_or_ring && factor.has_direction() && factor.nodes() <= 2);
  });
}

void Topology::require_routable() const {
  for (const Graph& graph : factors_) graph.require_routable();
}

std::int64_t Topology::routing_table_bytes() const {
  std::int64_t sum = 0;
  for (const Graph& graph : factors_) sum += graph.routing_table_bytes();
  return sum;
}

int Topology::ports(Rank rank) const {
  int ports = 0;
  for (int d = 0; d < dimensions(); ++d) ports += factors_[d].ports(coordinate(rank, d));
  return ports;
}

Link Topology::link(Rank rank, int port) const {
  for (int d = 0; d < dimensions(); ++d) {
    const Rank at = coordinate(rank, d);
    const int ports = factors_[d].ports(at);
    if (port < ports) return link({d, line(rank, d), factors_[d].link(at, port)});
    port -= ports;
  }
  WORMCUBE_ASSERT(!"the node has this port");
  return -1;
}

Topology::Place Topology::place(Link link) const {
  WORMCUBE_ASSERT(link >= 0 && link < links());
  const auto above = std::ranges::upper_bound(link_bases_, link);
  const auto dimension = static_cast<int>(above - link_bases_.begin()) - 1;
  const Link within = link - link_bases_[dimension], per_line = factors_[dimension].links();
  return {dimension, static_cast<Rank>(within / per_line), within % per_line};
}

Graph::Ends Topology::link_ends(Link link) const {
  const Place at = place(link);
  const Graph::Ends ends = factors_[at.dimension].ends(at.link);
  const auto node = [&](Rank vertex) {
    return vertex < size(at.dimension) ? on_line(at.dimension, at.line, vertex) : Rank{-1};
  };
  return {node(ends.from), node(ends.to)};
}

std::string Topology::link_name(Link link) const {
  const Place at = place(link);
  const Graph::Ends ends = factors_[at.dimension].ends(at.link);
  const auto name = [&](Rank vertex) {
    const Rank nodes = size(at.dimension);
    return vertex < nodes ? fmt::format("{}", on_line(at.dimension, at.line, vertex))
           : at.line == 0 && dimensions() == 1
               ? fmt::format("s{}", vertex - nodes)
               : fmt::format("s{}.{}.{}", at.dimension, at.line, vertex - nodes);
  };
  return name(ends.from) + "->" + name(ends.to);
}

}  // namespace wormcube
