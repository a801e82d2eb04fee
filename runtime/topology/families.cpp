// The table of network kinds, and graphs of the literature: edges or groups, names, and what
// degenerate sizes are.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/families.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/cayley.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube {

namespace {

using Edges = std::vector<std::pair<Rank, Rank>>;

/// Each cable is kept once; a node is not joined to itself.
struct Cables {
  std::set<std::pair<Rank, Rank>> kept = {};
  void join(Rank a, Rank b) {
    if (a != b) kept.emplace(std::min(a, b), std::max(a, b));
  }
  Edges all() const { return {kept.begin(), kept.end()}; }
};

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

Graph gray_hypercube(int dimensions) {
  const int d = in_range("gray-hypercube", "dimensions", dimensions, 16);
  // The Gray code is linear: gray(a ^ b) = gray(a) ^ gray(b), and gray(2^k - 1) = 2^(k-1).
  CayleyStructure group{.order = Rank{1} << d,
                        .generators = {},
                        .product = [](Rank a, Rank b) { return a ^ b; },
                        .inverse = [](Rank a) { return a; }};
  for (int k = 1; k <= d; ++k) group.generators.push_back((Rank{1} << k) - 1);
  return Graph::from_group(std::move(group), fmt::format("gray-hypercube:{}", d),
                           d == 1 ? "one cable" : (d == 2 ? "a ring of 4" : ""));
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
  Cables cables;  // each once: for 2 rows, and where there is no twist
  for (Rank row = 0; row < rows; ++row) {
    for (Rank column = 0; column < columns; ++column) {
      const Rank here = row * columns + column;
      cables.join(here, row * columns + (column + 1) % columns);
      cables.join(here, row + 1 < rows ? here + columns : (column + rows) % columns);
    }
  }
  return Graph::arbitrary(rows * columns, cables.all(), name);
}

Graph binary_tree(Rank nodes) {
  Edges edges;
  for (Rank v = 1; v < nodes; ++v) edges.emplace_back((v - 1) / 2, v);
  return Graph::arbitrary(nodes, edges, fmt::format("binary-tree:{}", nodes));
}

Graph shuffle_exchange(int bits) {
  const Rank nodes = Rank{1} << in_range("shuffle-exchange", "bits", bits, 16);
  Cables cables;
  for (Rank v = 0; v < nodes; ++v) {
    cables.join(v, v ^ 1);
    cables.join(v, (2 * v) % nodes + v / (nodes / 2));
  }
  return Graph::arbitrary(nodes, cables.all(), fmt::format("shuffle-exchange:{}", bits));
}

Graph de_bruijn(Rank letters, Rank length) {
  const std::string name = fmt::format("de-bruijn:{}x{}", letters, length);
  std::int64_t nodes = 1;
  for (Rank i = 0; i < length && nodes <= max_nodes; ++i) nodes *= letters;
  if (letters < 2 || nodes > max_nodes) {
    throw UsageError(fmt::format("{}: expected 2 letters or more, and at most {} words, the nodes",
                                 name, max_nodes));
  }
  Cables cables;
  for (Rank v = 0; v < nodes; ++v) {
    for (Rank letter = 0; letter < letters; ++letter) {
      cables.join(v, static_cast<Rank>((std::int64_t{v} * letters + letter) % nodes));
    }
  }
  return Graph::arbitrary(static_cast<Rank>(nodes), cables.all(), name);
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

namespace {

constexpr std::array all_kinds{
    NetworkKind{.name = "ring",
                .example = "ring:7",
                .syntax = "ring:N",
                .meaning = "a cycle; a ring of 2 is a single cable, like a line of 2",
                .nodes = "N",
                .samples = "ring:1 ring:2 ring:3 ring:4 ring:5 ring:8",
                .graph = Graph::ring,
                .several = "torus:8x8"},
    NetworkKind{.name = "line",
                .example = "line:5",
                .syntax = "line:N",
                .meaning = "a path",
                .nodes = "N",
                .samples = "line:1 line:2 line:5",
                .graph = Graph::line,
                .several = "mesh:6x4"},
    NetworkKind{.name = "torus",
                .example = "torus:8x8",
                .syntax = "torus:AxB..",
                .meaning = "a product of rings",
                .nodes = "A B ..",
                .samples = "torus:4x4 torus:2x8 torus:3x5 torus:1x3 torus:2x2x3 torus:4x3x2",
                .graph = Graph::ring,
                .many_sizes = true},
    NetworkKind{.name = "mesh",
                .example = "mesh:6x4",
                .syntax = "mesh:AxB..",
                .meaning = "a product of lines; `mesh:6x4` is `line:6*line:4`",
                .nodes = "A B ..",
                .samples = "mesh:6x4 mesh:2x3x2",
                .graph = Graph::line,
                .many_sizes = true},
    NetworkKind{.name = "hypercube",
                .example = "hypercube:6",
                .syntax = "hypercube:D",
                .meaning = "a product of D lines of 2 nodes",
                .nodes = "2^D",
                .samples = "hypercube:0 hypercube:1 hypercube:4"},
    NetworkKind{.name = "complete",
                .example = "complete:8",
                .syntax = "complete:N",
                .meaning = "every node is joined to every other node",
                .nodes = "N",
                .samples = "complete:1 complete:5",
                .graph = Graph::complete,
                .several = "ghc:4x3"},
    NetworkKind{
        .name = "tree",
        .example = "tree:8",
        .syntax = "tree:N",
        .meaning =
            "a balanced binary tree whose leaves are nodes and whose inner vertices are switches",
        .nodes = "N",
        .samples = "tree:1 tree:2 tree:8 tree:11",
        .graph = Graph::tree,
        .several = "tree:4*tree:2"},
    NetworkKind{.name = "ghc",
                .example = "ghc:4x3",
                .syntax = "ghc:AxB..",
                .meaning = "a generalized hypercube: a product of complete graphs",
                .nodes = "A B ..",
                .samples = "ghc:4x3 ghc:2x3x2",
                .graph = Graph::complete,
                .many_sizes = true},
    NetworkKind{.name = "star",
                .example = "star:8",
                .syntax = "star:N",
                .meaning = "node 0 is joined to all other nodes",
                .nodes = "N",
                .samples = "star:1 star:5",
                .graph = star_of,
                .several = "star:4*star:3"},
    NetworkKind{.name = "petersen",
                .example = "petersen",
                .syntax = "petersen",
                .meaning = "the Petersen graph: cycles 0 to 4 and 5 7 9 6 8, v joined to v + 5",
                .nodes = "10",
                .samples = "petersen"},
    NetworkKind{.name = "ccc",
                .example = "ccc:3",
                .syntax = "ccc:D",
                .meaning =
                    "cube-connected cycles: node w\\*D + i has two neighbours in its cycle w, "
                    "and (w ^ 2^i)\\*D + i",
                .nodes = "D 2^D, D up to 16",
                .samples = "ccc:1 ccc:2 ccc:3",
                .graph = cube_connected_cycles,
                .several = "ccc:3*ccc:2",
                .what = "a number of dimensions",
                .most = 16},
    NetworkKind{.name = "butterfly",
                .example = "butterfly:3",
                .syntax = "butterfly:D",
                .meaning = "wrapped butterfly: node w\\*D + i (row w, level i) is joined to rows w "
                           "and w ^ 2^i of the next level",
                .nodes = "D 2^D, D up to 16",
                .samples = "butterfly:1 butterfly:2 butterfly:3",
                .graph = wrapped_butterfly,
                .several = "butterfly:3*butterfly:2",
                .what = "a number of levels",
                .most = 16},
    NetworkKind{.name = "gray-hypercube",
                .example = "gray-hypercube:3",
                .syntax = "gray-hypercube:D",
                .meaning = "a hypercube in which node i has the label i ^ i/2 of the Gray code; "
                           "nodes with consecutive numbers are neighbours",
                .nodes = "2^D, D up to 16",
                .samples = "gray-hypercube:1 gray-hypercube:2 gray-hypercube:4",
                .graph = gray_hypercube,
                .several = "gray-hypercube:3*gray-hypercube:2",
                .what = "a number of dimensions",
                .most = 16},
    NetworkKind{
        .name = "circulant",
        .example = "circulant:12+1+3",
        .syntax = "circulant:N+S+..",
        .meaning = "node v is joined to v + S and v - S for each offset S: `circulant:12+1+3`",
        .nodes = "N",
        .samples = "circulant:2+1 circulant:12+1+3"},
    NetworkKind{.name = "twisted",
                .example = "twisted:4x8",
                .syntax = "twisted:AxB",
                .meaning = "a torus of A rows and B columns whose cables from the last row back "
                           "to the first are shifted by A columns. If B = 2A, it is the "
                           "rectangular twisted torus (`twisted:4x8` has a diameter of 4, "
                           "torus:4x8 of 6)",
                .nodes = "A B",
                .samples = "twisted:2x4 twisted:3x5"},
    NetworkKind{.name = "binary-tree",
                .example = "binary-tree:7",
                .syntax = "binary-tree:N",
                .meaning = "a binary tree of nodes: v is joined to 2v + 1 and 2v + 2",
                .nodes = "N",
                .samples = "binary-tree:1 binary-tree:2 binary-tree:7",
                .graph = binary_tree,
                .several = "binary-tree:7*binary-tree:3"},
    NetworkKind{.name = "shuffle-exchange",
                .example = "shuffle-exchange:3",
                .syntax = "shuffle-exchange:D",
                .meaning = "labels of D bits: v joined to v ^ 1, and to v rotated left by a bit",
                .nodes = "2^D, D up to 16",
                .samples = "shuffle-exchange:1 shuffle-exchange:3",
                .graph = shuffle_exchange,
                .several = "shuffle-exchange:3*shuffle-exchange:2",
                .what = "a number of bits",
                .most = 16},
    NetworkKind{.name = "de-bruijn",
                .example = "de-bruijn:2x3",
                .syntax = "de-bruijn:BxD",
                .meaning = "numbers of D digits in base B: v is joined to all v\\*B + j modulo B^D",
                .nodes = "B^D",
                .samples = "de-bruijn:2x1 de-bruijn:2x3 de-bruijn:3x2"},
    NetworkKind{.name = "star-graph",
                .example = "star-graph:4",
                .syntax = "star-graph:N",
                .meaning =
                    "the permutations of N symbols in lexicographic order, joined if swapping the "
                    "first symbol with another one turns one permutation into the other",
                .nodes = "N!, N up to 9",
                .samples = "star-graph:1 star-graph:2 star-graph:4",
                .graph = star_graph,
                .several = "star-graph:4*star-graph:3",
                .what = "a number of places",
                .most = 9},
    NetworkKind{.name = "bubble-sort",
                .example = "bubble-sort:4",
                .syntax = "bubble-sort:N",
                .meaning = "the same permutations, joined if swapping two neighbouring symbols "
                           "turns one permutation into the other",
                .nodes = "N!, N up to 9",
                .samples = "bubble-sort:3",
                .graph = bubble_sort_graph,
                .several = "bubble-sort:4*bubble-sort:3",
                .what = "a number of places",
                .most = 9},
    NetworkKind{.name = "cayley",
                .example = "cayley:2134+2341",
                .syntax = "cayley:P+Q+..",
                .meaning = "the permutations that P, Q .. generate, joined by these generators "
                           "and their inverses: `cayley:2134+2341`",
                .nodes = "up to 9!",
                .samples = "cayley:2134+2341"},
    NetworkKind{.name = "graph",
                .example = "graph:FILE",
                .syntax = "graph:FILE",
                .meaning = "a file with an edge list: two vertex numbers per line, counted from 0 "
                           "and separated by spaces or a comma. `#` starts a comment. The file "
                           "name must not contain a comma or a `*`",
                .nodes = "up to 1048576",
                .samples = ""}};

}  // namespace

std::span<const NetworkKind> network_kinds() { return all_kinds; }

std::string network_examples() {
  std::string examples;
  for (const NetworkKind& kind : all_kinds) {
    examples.append(examples.empty() ? "" : " ").append(kind.example);
  }
  return examples;
}

}  // namespace wormcube
