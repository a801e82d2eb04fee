// The group behind a Cayley graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/graph.hpp"

#include <functional>
#include <vector>

namespace wormcube {

/// A finite group on 0 .. order-1 with 0 as its identity, and generators. In its Cayley graph node
/// g is joined to g * s for each generator s, so that g -> a * g maps the graph onto itself: what
/// holds at node 0 holds everywhere.
struct CayleyStructure {
  Rank order = 1;
  /// Elements other than the identity, ascending, each with its inverse among them.
  std::vector<Rank> generators;
  std::function<Rank(Rank, Rank)> product;
  std::function<Rank(Rank)> inverse;

  /// The node that generator number i leads to.
  Rank step(Rank node, std::size_t i) const { return product(node, generators[i]); }

  /// The integers modulo n. Generators are taken modulo n and their inverses added.
  static CayleyStructure cyclic(Rank order, const std::vector<Rank>& generators);
  /// Bit strings of `bits` bits with a position: (w, i) * (v, j) = (w ^ v rotated left by i, i +
  /// j); element (w, i) is number w * bits + i. Inverses of the generators are added.
  static CayleyStructure turning_bits(int bits, const std::vector<Rank>& generators);
  /// The permutations that these generate, in one-line notation ("213" swaps the first two),
  /// numbered in lexicographic order. g * s is the word g with its places permuted: place k has
  /// what was at place s(k). Inverses of the generators are added.
  /// Throws UsageError if a word is not a permutation, or if there are too many elements.
  static CayleyStructure permutations(const std::vector<std::string>& generators);
};

}  // namespace wormcube
