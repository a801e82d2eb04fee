// One dimension of the direct exchange: permutations whose messages share no link.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/graph.hpp"

namespace wormcube {

struct DirectTable;

/// n permutations of the n nodes of a ring, line or complete graph, which together hold each pair
/// (source, destination) once. Each move has a class; moves of one permutation and one class share
/// no link.
class DirectFactor {
 public:
  struct Hop {
    int hops = 0;        ///< signed; in a complete graph the difference of numbers
    int move_class = 0;  ///< 0 .. classes() - 1; a node that stays has one too
  };

  /// Requires admits(graph).
  explicit DirectFactor(const Graph& graph);
  /// Rings of an even number of nodes or of 25 at most, lines of 4 at most, complete graphs.
  static bool admits(const Graph& graph);

  Rank nodes() const { return n_; }
  int classes() const;
  /// One of the permutations leaves every node in place.
  bool has_identity() const;

  /// Whether any node that moves in a permutation has this class, and any that stays.
  struct Used {
    bool moves = false, stays = false;
  };
  Used used(Rank permutation, int move_class) const;

  /// What node c does in a permutation; and what the node that sends to it does.
  Hop out(Rank permutation, Rank c) const;
  Hop in(Rank permutation, Rank c) const;

 private:
  enum class Kind : std::uint8_t { complete, table, even_ring };
  Hop even_ring(Rank permutation, Rank c, bool incoming) const;
  Used even_ring_uses(Rank permutation, int move_class) const;

  Kind kind_;
  Rank n_;
  const DirectTable* table_ = nullptr;  // of Kind::table
};

}  // namespace wormcube
