// Choosing, making and keeping the exchanges of factors.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/factor.hpp"

#include "wormcube/collectives/alltoall/product/single.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

// The number of transfers in a template: hops of all blocks.
constexpr std::int64_t most_hops = 6'000'000;
// Without a structure all blocks are sorted in every step.
constexpr Rank most_nodes_greedy = 128;

/// The kind of a graph for this purpose: one cable and a triangle are complete, whatever their
/// name.
Shape kind(const Graph& graph) {
  const bool ring = graph.shape() == Shape::ring;
  return graph.nodes() <= 2 || (ring && graph.nodes() == 3) ? Shape::complete : graph.shape();
}

using Maker = ExchangeTemplate (*)(const Graph& graph, Rank copies);
/// A graph's edges if its shape does not determine them, whether its group is known, and its use.
using Key = std::tuple<Maker, Shape, Rank, Rank, bool, std::vector<std::vector<Rank>>>;

Key key(const Graph& graph, Rank copies, Maker make) {
  Key key{make, kind(graph), graph.nodes(), copies, false, {}};
  if (kind(graph) == Shape::graph) {
    std::get<bool>(key) = graph.cayley() != nullptr;
    std::get<std::vector<std::vector<Rank>>>(key) = Adjacency::of(graph).neighbours;
  }
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

ExchangeTemplate one_port(const Graph& graph, Rank /*copies*/) {
  if (const auto group = graph.cayley()) return cayley_exchange(*group);
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

void require_factors(std::string_view algorithm, const Topology& topology, Ports ports) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    if (graph.nodes() == 1) continue;
    if (graph.shape() == Shape::tree) {
      throw UsageError(
          fmt::format("{}: every vertex must be a node; the inner vertices of {} only switch; use "
                      "shift, or the network binary-tree:{}, all of whose vertices are nodes",
                      algorithm, graph.name(), graph.vertices()));
    }
    const bool structured =
        kind(graph) != Shape::graph || (ports == Ports::one && graph.cayley() != nullptr);
    if (!structured && graph.nodes() > most_nodes_greedy) {
      throw UsageError(fmt::format(
          "{}: dimension {} is {}, of {} nodes; a graph without {} may have at most {}, because "
          "every step visits all blocks; use shift",
          algorithm, d, graph.name(), graph.nodes(),
          ports == Ports::one ? "a known group" : "a closed form", most_nodes_greedy));
    }
    const Rational hops = Rational(graph.nodes()) * theory::average_status(graph);
    if (hops > Rational(most_hops)) {
      throw UsageError(fmt::format(
          "{}: dimension {} is {}, whose exchange takes {} hops in all; the limit is {}, because "
          "each hop is stored; use shift",
          algorithm, d, graph.name(), hops.text(), most_hops));
    }
  }
}

LowerBound product_bound(const Setting& setting, Ports ports) {
  const theory::Bound bound = ports == Ports::one ? theory::one_port_bound(setting.topology)
                                                  : theory::all_port_bound(setting.topology);
  return {.startups = bound.steps.value(),
          .transmission_blocks = bound.steps.value(),
          .exact = bound.steps,
          .source = bound.source,
          .transmission_source = bound.source};
}

}  // namespace wormcube
