// Total exchange: closed forms, cuts, and paths that are used evenly.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/cayley.hpp"
#include "wormcube/runtime/topology/flows.hpp"
#include "wormcube/runtime/topology/kept.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

namespace wormcube::theory {

namespace {

std::atomic<ExchangeProgram> exchange_program = nullptr;

/// The load of the busiest link if equal parts of each block take all shortest paths.
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
  // All nodes are alike: a link has the sum of what its generator's links carry from one node.
  const auto group = graph.cayley();
  std::vector<double> of_generator(n, 0);
  for (std::int64_t link = 0; link < graph.links(); ++link) {
    const auto [from, to] = graph.ends(link);
    of_generator[group->product(group->inverse(from), to)] += load[link];
  }
  return *std::ranges::max_element(of_generator);
}

/// Whether searches from this many nodes of a graph take some tenths of a second at most.
bool searchable(const Graph& graph) {
  const std::int64_t searches = graph.cayley() != nullptr ? 1 : graph.nodes();
  return searches <= (std::int64_t{1} << 23) / graph.links();
}

LinkBound arbitrary_exchange_bound(const Graph& graph) {
  const Topology alone({graph});
  const CutBound cut = cut_bound(graph);
  LinkBound bound{cut.steps.value(), false, "cut"};
  if (graph.links() == 2 * (std::int64_t{graph.nodes()} - 1)) {
    bound.tight = true;  // one path between any two nodes
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
    case Shape::ring:  // half of the blocks that go half way round take either direction
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
    // Not tight: another dimension may need more than its known bound.
    bound.tight = bound.tight && best.tight;
    best.tight = bound.tight;
    if (bound.blocks > best.blocks) best = bound;
  }
  return best;
}

}  // namespace wormcube::theory
