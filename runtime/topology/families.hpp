// The kinds of networks by name, and the graphs of the literature: stars, Petersen's, circulants,
// and other Cayley graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/graph.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// A kind of network, as the grammar, help, completion, documents and tests know it: one row of the
/// table in families.cpp. A test compares docs/reference/networks.md with it.
struct NetworkKind {
  std::string_view name, example;   ///< "ring", "ring:7"
  std::string_view syntax;          ///< "ring:N"
  std::string_view meaning, nodes;  ///< what joins which nodes, and how many there are, as markdown
  std::string_view samples;         ///< small networks for tests, apart by blanks

  // How the text behind the colon is read.
  Graph (*graph)(Rank) = nullptr;  ///< of one size; nullptr: the parser has a function of its own
  bool many_sizes = false;         ///< a product of such graphs: `torus:8x8`
  std::string_view several = {};   ///< what may have been meant by several sizes
  std::string_view what = "a size";
  std::int64_t most = max_nodes;
};
std::span<const NetworkKind> network_kinds();
/// "ring:7 line:5 .. graph:FILE": an example of each.
std::string network_examples();

/// Each is of Shape::graph, its vertices are all nodes, and its name is the grammar's text. They
/// throw UsageError for impossible sizes. Those that are Cayley graphs know their group:
/// Graph::cayley().

/// `star:N`: node 0 is joined to all others.
Graph star_of(Rank nodes);
/// `petersen`: two cycles 0 .. 4 and 5 7 9 6 8, and spokes from v to v + 5. Not a Cayley graph.
Graph petersen();
/// `ccc:D`: a hypercube whose corners are cycles: node w*D + i is joined to the two next places of
/// its cycle, w*D + (i +- 1 mod D), and to (w ^ 1<<i)*D + i. 1 to 16 dimensions.
/// Source: F. P. Preparata, J. Vuillemin, The Cube-Connected Cycles, CACM 24(5), 1981.
Graph cube_connected_cycles(int dimensions);
/// `butterfly:D`, wrapped: node w*D + i (row w, level i) is joined to rows w and w ^ 1<<i of the
/// next level, i + 1 mod D. 1 to 16 levels.
Graph wrapped_butterfly(int levels);
/// `gray-hypercube:D`: the hypercube whose node i is at label gray(i) = i ^ i/2, so that ranks
/// that follow each other are neighbours: i is joined to i ^ (2^k - 1) for k = 1 .. D. 1 to 16
/// dimensions.
/// Source: Grama, Gupta, Karypis, Kumar, Fig. 4.23.
Graph gray_hypercube(int dimensions);
/// `circulant:N+S+..`: node v is joined to v +- s for each offset s. Connected only if no number
/// but 1 divides N and all offsets.
Graph circulant(Rank nodes, const std::vector<Rank>& offsets);
/// `twisted:AxB`: the torus of A rows and B columns, node row*B + column, whose cables from the
/// last row back to the first one are shifted by A columns: twisted:4x8 has a diameter of 4,
/// torus:4x8 one of 6. At least 2 rows and 3 columns.
/// Source: J. M. Camara et al., Twisted Torus Topologies for Enhanced Interconnection Networks,
/// IEEE Trans. Parallel Distrib. Syst. 21(12), 2010: the rectangular twisted torus is B = 2 A.
Graph twisted_torus(Rank rows, Rank columns);
/// `binary-tree:N`: a heap's tree, node v joined to 2v + 1 and 2v + 2; all vertices are nodes.
Graph binary_tree(Rank nodes);
/// `shuffle-exchange:D`: 2^D labels, v joined to v ^ 1 and to its rotation to the left, both ways.
/// 1 to 16 bits.
/// Source: H. S. Stone, Parallel Processing with the Perfect Shuffle, IEEE Trans. Comput. 20, 1971.
Graph shuffle_exchange(int bits);
/// `de-bruijn:BxD`: words of D letters out of B, as numbers in base B; v joined to the words that
/// its last D - 1 letters begin, both ways. At least 2 letters.
Graph de_bruijn(Rank letters, Rank length);
/// `star-graph:N`: the N! permutations, joined if they differ by a swap of the first place with
/// another. 1 to 9 places.
/// Source: S. B. Akers, D. Harel, B. Krishnamurthy, The Star Graph, ICPP 1987.
Graph star_graph(int places);
/// `bubble-sort:N`: the N! permutations, joined if they differ by a swap of neighbouring places. 1
/// to 9 places.
Graph bubble_sort_graph(int places);
/// `cayley:P+Q+..`: the group that these permutations generate, joined by them and their inverses.
Graph permutation_graph(const std::vector<std::string>& generators);

}  // namespace wormcube
