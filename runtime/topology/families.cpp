// Graphs of the literature: edges or groups, names, and what degenerate sizes really are.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/families.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/cayley.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube {

namespace {

using Edges = std::vector<std::pair<Rank, Rank>>;

int in_range(std::string_view family, std::string_view what, int value, int most) {
  if (value < 1 || value > most) {
    throw UsageError(
        fmt::format("{}:{}: {} {}; expected 1 to {}", family, value, value, what, most));
  }
  return value;
}

/// The permutations of this many places in order, with two of them (from 0) swapped.
std::string swapped(int places, int a, int b) {
  std::string word;
  for (int k = 0; k < places; ++k) word += static_cast<char>('1' + k);
  std::swap(word[a], word[b]);
  return word;
}

}  // namespace

Graph star_of(Rank nodes) {
  Edges edges;
  for (Rank v = 1; v < nodes; ++v) edges.emplace_back(0, v);
  return Graph::arbitrary(nodes, edges, fmt::format("star:{}", nodes));
}

Graph petersen() {
  Edges edges;
  for (Rank v = 0; v < 5; ++v) {
    edges.emplace_back(v, (v + 1) % 5);
    edges.emplace_back(v, v + 5);
    edges.emplace_back(v + 5, (v + 2) % 5 + 5);
  }
  return Graph::arbitrary(10, edges, "petersen");
}

Graph cube_connected_cycles(int dimensions) {
  const int d = in_range("ccc", "dimensions", dimensions, 16);
  std::vector<Rank> generators{Rank{1} * d};  // along the cube: flip the bit of the node's place
  if (d > 1) generators.push_back(1);         // along the cycle
  return Graph::from_group(CayleyStructure::turning_bits(d, generators), fmt::format("ccc:{}", d),
                           d == 1   ? "its cycles have one node: one cable"
                           : d == 2 ? "its cycles of 2 are one cable each: a ring of 8"
                                    : "");
}

Graph wrapped_butterfly(int levels) {
  const int d = in_range("butterfly", "levels", levels, 16);
  std::vector<Rank> generators{d + 1 % d};  // across
  if (d > 1) generators.push_back(1);       // straight on
  return Graph::from_group(CayleyStructure::turning_bits(d, generators),
                           fmt::format("butterfly:{}", d),
                           d == 1   ? "one level, joined to itself: one cable"
                           : d == 2 ? "between its 2 levels the straight cables coincide"
                                    : "");
}

Graph circulant(Rank nodes, const std::vector<Rank>& offsets) {
  const std::string name = fmt::format("circulant:{}+{}", nodes, fmt::join(offsets, "+"));
  std::set<Rank> known;
  Rank divisor = nodes;
  for (const Rank s : offsets) {
    if (s < 1 || s >= nodes) {
      throw UsageError(
          fmt::format("{}: offset {}; with {} nodes, expected 1 to {}", name, s, nodes, nodes - 1));
    }
    if (!known.insert(std::min(s, nodes - s)).second) {
      throw UsageError(
          fmt::format("{}: offset {} is given twice (it is also {})", name, s, nodes - s));
    }
    divisor = std::gcd(divisor, s);
  }
  if (divisor != 1) {
    throw UsageError(fmt::format(
        "{}: not connected: {} divides the number of nodes and all offsets", name, divisor));
  }
  return Graph::from_group(CayleyStructure::cyclic(nodes, offsets), name);
}

Graph twisted_torus(Rank rows, Rank columns) {
  const std::string name = fmt::format("twisted:{}x{}", rows, columns);
  if (rows < 2 || columns < 3) {
    throw UsageError(
        fmt::format("{}: {} rows and {} columns; need at least 2 and 3", name, rows, columns));
  }
  std::set<std::pair<Rank, Rank>> cables;  // each once: for 2 rows, and where there is no twist
  const auto join = [&](Rank a, Rank b) { cables.emplace(std::min(a, b), std::max(a, b)); };
  for (Rank row = 0; row < rows; ++row) {
    for (Rank column = 0; column < columns; ++column) {
      const Rank here = row * columns + column;
      join(here, row * columns + (column + 1) % columns);
      join(here, row + 1 < rows ? here + columns : (column + rows) % columns);
    }
  }
  return Graph::arbitrary(rows * columns, {cables.begin(), cables.end()}, name);
}

Graph star_graph(int places) {
  in_range("star-graph", "places", places, 9);
  std::vector<std::string> swaps;
  for (int k = 1; k < places; ++k) swaps.push_back(swapped(places, 0, k));
  return Graph::from_group(CayleyStructure::permutations(swaps),
                           fmt::format("star-graph:{}", places), places == 3 ? "a ring of 6" : "");
}

Graph bubble_sort_graph(int places) {
  in_range("bubble-sort", "places", places, 9);
  std::vector<std::string> swaps;
  for (int k = 1; k < places; ++k) swaps.push_back(swapped(places, k - 1, k));
  return Graph::from_group(CayleyStructure::permutations(swaps),
                           fmt::format("bubble-sort:{}", places), places == 3 ? "a ring of 6" : "");
}

Graph permutation_graph(const std::vector<std::string>& generators) {
  return Graph::from_group(CayleyStructure::permutations(generators),
                           fmt::format("cayley:{}", fmt::join(generators, "+")));
}

}  // namespace wormcube
