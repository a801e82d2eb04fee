// Longest routes: dimension by dimension, because a route's length is the sum over its dimensions.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/hops.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

namespace wormcube {

namespace {

int hops_in(const Graph& graph, Rank from, Rank to) {
  if (graph.has_direction()) return std::abs(graph.hops(from, to));
  if (graph.shape() == Shape::complete) return from == to ? 0 : 1;
  int hops = 0;
  bool up = true;
  for (Rank at = from; at != to; ++hops) at = graph.ends(graph.next(at, to, up)).to;
  return hops;
}

/// All pairs of larger trees and graphs take long.
bool has_all_pairs(const Topology& topology) {
  constexpr Rank most_nodes = 512, most_nodes_in_all = 1 << 20;
  if (topology.nodes() > most_nodes_in_all) return false;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    const bool closed = graph.has_direction() || graph.shape() == Shape::complete;
    if (!closed && graph.nodes() > most_nodes) return false;
  }
  return true;
}

constexpr double never = -std::numeric_limits<double>::infinity();

/// Of one dimension: the longest route by each offset 0 .. n, without a carry and with one.
std::vector<std::array<double, 2>> longest_by_offset(const Graph& graph) {
  const Rank n = graph.nodes();
  const bool even = graph.wraps() || graph.shape() == Shape::complete;  // every node is alike
  std::vector<std::array<double, 2>> longest;
  for (Rank offset = 0; offset <= n; ++offset) {
    std::array<double, 2> most{never, never};
    const auto from = [&](Rank x) {
      const bool carries = x + offset >= n;
      double& here = most[carries ? 1 : 0];
      here = std::max<double>(here, hops_in(graph, x, (x + offset) % n));
    };
    if (even || graph.has_direction()) {  // of a line too: all nodes on one side are alike
      from(0), from(n - 1);
    } else {
      for (Rank x = 0; x < n; ++x) from(x);
    }
    longest.push_back(most);
  }
  return longest;
}

}  // namespace

int route_hops(const Topology& topology, Rank from, Rank to) {
  int hops = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    hops += hops_in(topology.factor(d), topology.coordinate(from, d), topology.coordinate(to, d));
  }
  return hops;
}

namespace {

std::optional<double> hops_of_star(const Topology& topology, Rank root, bool to_root) {
  constexpr Rank most_nodes = 1 << 20;
  if (topology.nodes() > most_nodes) return std::nullopt;
  double sum = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {  // each coordinate occurs p / n times
    const Graph& graph = topology.factor(d);
    if (!graph.routable()) return std::nullopt;
    const Rank n = graph.nodes(), at = topology.coordinate(root, d);
    double of_line = 0;
    for (Rank x = 0; x < n; ++x) of_line += to_root ? hops_in(graph, x, at) : hops_in(graph, at, x);
    sum += of_line * (topology.nodes() / n);
  }
  return sum;
}

}  // namespace

std::optional<double> hops_to_all(const Topology& topology, Rank root) {
  return hops_of_star(topology, root, false);
}
std::optional<double> hops_from_all(const Topology& topology, Rank root) {
  return hops_of_star(topology, root, true);
}

std::optional<double> hops_of_shifts(const Topology& topology, std::span<const Rank> offsets) {
  if (!has_all_pairs(topology)) return std::nullopt;
  std::vector<std::vector<std::array<double, 2>>> longest;
  for (int d = 0; d < topology.dimensions(); ++d) {
    longest.push_back(longest_by_offset(topology.factor(d)));
  }
  double sum = 0;
  for (const Rank offset : offsets) {
    std::array<double, 2> best{0, never};  // by whether the lower dimensions carry
    for (int d = topology.dimensions() - 1; d >= 0; --d) {
      const auto digit = static_cast<std::size_t>(topology.coordinate(offset, d));
      const auto& table = longest[static_cast<std::size_t>(d)];
      std::array<double, 2> next{};
      for (std::size_t carries = 0; carries < 2; ++carries) {
        next[carries] =
            std::max(best[0] + table[digit][carries], best[1] + table[digit + 1][carries]);
      }
      best = next;
    }
    sum += std::max(best[0], best[1]);
  }
  return sum;
}

std::optional<double> hops_of_all_shifts(const Topology& topology) {
  std::vector<Rank> offsets(static_cast<std::size_t>(topology.nodes() - 1));
  std::iota(offsets.begin(), offsets.end(), 1);
  return hops_of_shifts(topology, offsets);
}

namespace {

std::vector<Rank> powers_below(Rank p) {
  std::vector<Rank> powers;
  for (std::int64_t i = 1; i < p; i *= 2) powers.push_back(static_cast<Rank>(i));
  return powers;
}

}  // namespace

std::optional<double> hops_of_doubling(const Topology& topology) {
  return hops_of_shifts(topology, powers_below(topology.nodes()));
}

std::optional<double> hops_of_exchanges(const Topology& topology, std::span<const Rank> masks) {
  if (!has_all_pairs(topology)) return std::nullopt;
  std::vector<std::vector<double>> longest;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    constexpr Rank most_nodes = 4096;
    const Rank n = graph.nodes();
    if (n > most_nodes) return std::nullopt;
    auto& of_mask = longest.emplace_back(static_cast<std::size_t>(n), 0.0);
    for (Rank mask = 1; mask < n; ++mask) {
      double& most = of_mask[static_cast<std::size_t>(mask)];
      for (Rank x = 0; x < n; ++x) {
        if ((x ^ mask) < n) most = std::max<double>(most, hops_in(graph, x, x ^ mask));
      }
    }
  }
  double sum = 0;
  for (const Rank mask : masks) {
    for (int d = 0; d < topology.dimensions(); ++d) {
      sum += longest[static_cast<std::size_t>(d)]
                    [static_cast<std::size_t>(topology.coordinate(mask, d))];
    }
  }
  return sum;
}

std::optional<double> hops_of_all_exchanges(const Topology& topology) {
  std::vector<Rank> masks(static_cast<std::size_t>(topology.nodes() - 1));
  std::iota(masks.begin(), masks.end(), 1);
  return hops_of_exchanges(topology, masks);
}

std::optional<double> hops_of_bits(const Topology& topology) {
  return hops_of_exchanges(topology, powers_below(topology.nodes()));
}

double hops_of_swing(const Topology& topology) {
  double sum = 0;
  for (const Rank size : topology.sizes()) {
    std::int64_t power = 1;  // of -2
    for (std::int64_t reached = 1; reached < size; reached *= 2) {
      power *= -2;
      sum += static_cast<double>(std::abs((1 - power) / 3));
    }
  }
  return sum;
}

int hops_around(const Graph& graph) { return graph.wraps() ? 1 : std::max(1, graph.nodes() - 1); }

double hops_of_rounds(const Topology& topology) {
  double sum = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    sum += (graph.nodes() - 1.0) * hops_around(graph);
  }
  return sum;
}

}  // namespace wormcube
