// The exchange along diagonals of a divided torus: tseng-diagonal, and a core of Kim's algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/exchange_phases.hpp"
#include "wormcube/collectives/core/cost.hpp"
#include "wormcube/collectives/kit/block_array.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <array>
#include <vector>

namespace wormcube {

/// The same exchange as TorusExchange, of bundles among the virtual nodes of a torus that was
/// divided k times, but the two ring phases take turns. Virtual nodes (i, j) of a diagonal
/// c = (j - i) mod 4 do the same. A bundle approaches its destination (a, b), dimension by
/// dimension, in three phases: to the same 4 coordinates by hops of 4, to the same 2 by a hop of 2,
/// to the same one by a hop of 1.
///
///   ring steps t.1, t.2   t = 1, 2, ..: c = 0 goes j+4, c = 1 i+4, c = 2 j-4, c = 3 i-4 in t.1,
///                         and in t.2 in the other dimension, with the same sign
///   2-hop steps           even c first j, then i, odd c the reverse;
///                         + if the coordinate that changes is 0 or 1 modulo 4
///   1-hop steps           first j, then i; + if the coordinate that changes is even
///
/// As consecutive steps move in different dimensions, all bundles are rearranged before every step
/// but the first, so that the moving part is one slice.
///
/// Example, 4x4, k = 0: there is no ring step. The block (2,1)->(3,3) of node (2,1), c = 3, makes
/// no hop of 2 along i and one along j. A place has for each dimension, the moving one first, the
/// hops and the destination's coordinate mod 2: for i 0,1, for j 1,1, place 7 of 16. It stays in
/// the first step. For the second, along j, it is in place 1101 = 13, and goes '+' to (2,3), place
/// 13. For the 1-hop steps the hops precede half the source's coordinate: for j 0,0, for i 1,1,
/// place 3; it stays. For the last step it is in place 1100 = 12, and goes '+' to (3,3).
///
/// Network  torus of two dimensions; all V_d multiples of 4, or all V_d = 2: the 1-hop phase only.
/// Cost     V the larger side: V/2 + 2 steps, (V/4 + 1) bundles per virtual node, all rearranged
///          V/2 + 1 times (V = 2: 2 steps, 1 and 1).
/// Links    no link carries two messages in a step: on one line one residue of four sends '+' and
///          one sends '-'.
/// Source   reconstructed from what S. Kim et al., "Complete Exchange Algorithms in
///          Wormhole-Routed Torus Networks", report of their ref. [10], Y. Tseng, S. Gupta, D.
///          Panda: diagonals, contention-free, and the costs of Table 1, which this matches. The
///          order of its messages is not claimed to be theirs.
class DiagonalExchange {
 public:
  /// See TorusExchange.
  DiagonalExchange(const Topology& topology, Rank rank, int divisions = 0, Places bundle = {});

  /// Where the exchange expects the blocks, and where it leaves them.
  Layout before() const { return layout(turns_.front(), {0, 0}); }
  Layout after() const;

  void plan(BlockArray& array, const ExchangePhases& names) const;
  /// The same for a node that takes no part: idle, in the same phases.
  void sit_out(BlockArray& array, const ExchangePhases& names) const;

  /// The formulas above, in bundles.
  static Prediction predict(const Topology& topology, int divisions = 0);

 private:
  /// One step: all bundles that make `hop` hops or more along dimension `moving` move one further.
  /// In its phase the node's bundles go, in each dimension, from a = x modulo `before` and
  /// floor(b/before) = floor(x/before) to the same with `after`: a is the source's coordinate
  /// there, b the destination's.
  struct Turn {
    int moving;
    Rank hop;
    std::array<Rank, 2> before;
    Rank after;
    std::array<int, 2> sign;

    Rank most_hops() const { return before[moving] / after - 1; }
  };
  using Made = std::array<Rank, 2>;  // hops made in the phase, by dimension

  void add_turns();
  /// The hops made after each step, and whether the node moves in it.
  bool moves(const Turn& turn) const { return turn.hop <= turn.most_hops(); }
  Layout layout(const Turn& turn, Made made) const;
  static std::string_view name(const Turn& turn, const ExchangePhases& names);

  std::array<Rank, 2> sizes_, x_, strides_;
  Rank spacing_;
  Places bundle_;
  Rank blocks_;  // of all bundles
  std::vector<Turn> turns_;
};

}  // namespace wormcube
