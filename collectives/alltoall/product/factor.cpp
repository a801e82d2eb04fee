// Choosing, making and keeping the exchanges of factors.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/factor.hpp"

#include "wormcube/collectives/alltoall/product/single.hpp"
#include "wormcube/runtime/error.hpp"

#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

// Templates of this size take at most 6 million transfers, 170 MB with their index.
Rank most_nodes(Shape shape) {
  switch (shape) {
    case Shape::line:
    case Shape::ring:
      return 256;
    case Shape::complete:
      return 1024;
    case Shape::tree:
      return 1;
    case Shape::graph:
      return 128;  // the greedy sorts all blocks in every step
  }
  return 0;
}

/// What a graph is for our purposes: one cable and a triangle are complete, whatever their name.
Shape kind(const Graph& graph) {
  const bool ring = graph.shape() == Shape::ring;
  return graph.nodes() <= 2 || (ring && graph.nodes() == 3) ? Shape::complete : graph.shape();
}

using Maker = ExchangeTemplate (*)(const Graph& graph, Rank copies);
/// A graph's edges where its shape does not say them, and how it is used.
using Key = std::tuple<Maker, Shape, Rank, Rank, std::vector<std::vector<Rank>>>;

Key key(const Graph& graph, Rank copies, Maker make) {
  Key key{make, kind(graph), graph.nodes(), copies, {}};
  if (graph.shape() == Shape::graph) std::get<4>(key) = Adjacency::of(graph).neighbours;
  return key;
}

std::shared_ptr<const ExchangeTemplate> kept(const Graph& graph, Rank copies, Maker make) {
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<const ExchangeTemplate>> templates;
  const std::scoped_lock lock(mutex);
  auto& place = templates[key(graph, copies, make)];
  if (place == nullptr) place = std::make_shared<const ExchangeTemplate>(make(graph, copies));
  return place;
}

/// Only the number is kept: many copies are tried, and one is used.
std::size_t kept_steps(const Graph& graph, Rank copies, Maker make) {
  static std::mutex mutex;
  static std::map<Key, std::size_t> steps;
  const std::scoped_lock lock(mutex);
  const auto [place, is_new] = steps.try_emplace(key(graph, copies, make), 0);
  if (is_new) place->second = make(graph, copies).steps();
  return place->second;
}

/// The group of a graph that is known as a Cayley graph.
std::optional<CayleyGraph> group_of(const Graph& graph) {
  const Rank n = graph.nodes();
  if (kind(graph) == Shape::ring) return CayleyGraph::circulant(n, {1, -1});
  if (kind(graph) != Shape::complete) return {};
  std::vector<Rank> others(static_cast<std::size_t>(n) - 1);
  std::iota(others.begin(), others.end(), 1);
  return CayleyGraph::circulant(n, others);
}

ExchangeTemplate one_port(const Graph& graph, Rank /*copies*/) {
  if (const auto group = group_of(graph)) return cayley_exchange(*group);
  if (kind(graph) == Shape::line) return line_one_port(graph.nodes());
  const Adjacency adjacency = Adjacency::of(graph);
  ExchangeTemplate layered = layered_one_port(adjacency), greedy = greedy_one_port(adjacency);
  return layered.steps() <= greedy.steps() ? std::move(layered) : std::move(greedy);
}

ExchangeTemplate all_port(const Graph& graph, Rank copies) {
  switch (kind(graph)) {
    case Shape::ring:
      return ring_all_port(graph.nodes(), copies);
    case Shape::complete:
      return complete_all_port(graph.nodes(), copies);
    case Shape::line:
      return line_all_port(graph.nodes(), copies);
    default:
      return greedy_all_port(Adjacency::of(graph), copies);
  }
}

ExchangeTemplate serial(const Graph& graph, Rank /*copies*/) {
  return serial_exchange(Adjacency::of(graph));
}

}  // namespace

std::shared_ptr<const ExchangeTemplate> best_exchange(const Graph& graph, Ports ports,
                                                      Rank copies) {
  return kept(graph, copies, ports == Ports::one ? one_port : all_port);
}

std::shared_ptr<const ExchangeTemplate> slowest_exchange(const Graph& graph) {
  return kept(graph, 1, serial);
}

std::size_t all_port_steps(const Graph& graph, Rank copies) {
  const auto n = static_cast<std::size_t>(graph.nodes()), m = static_cast<std::size_t>(copies);
  if (n == 1) return 0;
  switch (kind(graph)) {
    case Shape::ring:
      return n % 2 == 0 ? (m * n * n + 7) / 8 : m * (n * n - 1) / 8;
    case Shape::complete:
      return m;
    case Shape::line:
      return m * (n * n / 4);
    default:
      return kept_steps(graph, copies, all_port);
  }
}

void require_factors(std::string_view algorithm, const Topology& topology) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    if (graph.nodes() == 1) continue;
    if (graph.shape() == Shape::tree) {
      throw UsageError(
          fmt::format("{}: every vertex must be a node; the inner vertices of {} only switch; use "
                      "shift",
                      algorithm, graph.name()));
    }
    if (graph.nodes() > most_nodes(graph.shape())) {
      throw UsageError(fmt::format(
          "{}: dimension {} is {}, of {} nodes; a {} may have {}; use shift", algorithm, d,
          graph.name(), graph.nodes(), to_string(graph.shape()), most_nodes(graph.shape())));
    }
  }
}

}  // namespace wormcube
