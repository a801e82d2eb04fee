// The exchange among the cells of a divided torus: suh-torus, and the middle of Kim's algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/exchange_phases.hpp"
#include "wormcube/collectives/core/cost.hpp"
#include "wormcube/collectives/kit/block_array.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace wormcube {

/// A torus that was divided k times consists of cells of s = 2^k nodes a side, and of subnetworks:
/// the nodes that agree in every coordinate modulo s, one to a cell. A subnetwork is a torus of V_d
/// = size(d)/s virtual nodes, x_d = floor(coordinate/s), whose links are s hops long; no two
/// subnetworks share a link. In each, every node starts with one bundle (some blocks, all bundles
/// of one size) for every cell and ends with one from every cell.
///
/// The bundle from cell a for cell b comes closer to b in three sweeps over the dimensions: to the
/// same 4 virtual coordinates, to the same 2, to b itself.
///
///   ring phases   one for each dimension; hops of 4, until floor(x/4) = floor(b/4)
///   2-hop phase   a step for each dimension; hops of 2 where bit 1 of x and b differs
///   1-hop phase   a step for each dimension; hops of 1 where bit 0 of x and b differs
///
/// In the first two, nodes of even and odd class c = (sum of x_d) mod 4 move along different
/// dimensions at any time: even ones along the largest first, odd ones along the next in cyclic
/// order. The signs: '+' in the ring phases for c = 0, 1; later where bit 1 (bit 0) of x_d is 0.
///
/// Layout. Within a phase a bundle never changes its place: it is sent from a place and received
/// into the same place of the next node. The first digit of a place is the bundle's hops in the
/// phase, in Gray order where several dimensions move, so that a message is one slice of the array;
/// with n >= 3 dimensions the last two phases gather up to 2^(n-2). Every node rearranges its whole
/// array once before each phase except the first.
///
/// Example, 4x4, k = 0: there is no ring phase. The block (2,1)->(3,3) of node (2,1), class 3,
/// moves along dimension 0 first in the 2-hop phase: there bit 1 of 2 and 3 agrees, along dimension
/// 1 that of 1 and 3 differs. Hops 0,1 are number 1 in Gray order (00,01,11,10), b mod 2 is 1,1:
/// place 4 + 3 = 7. It stays in the first step, goes 2 hops '+' in the second, and lies in place 7
/// of node (2,3) then. There the 1-hop phase moves along dimension 1 first: hops 0,1 once more; the
/// rest is floor(a/2) = 1,0: place 4 + 2 = 6. It stays, goes one hop '+', and is in place 6 of node
/// (3,3).
///
/// Network  torus of n >= 2 rings; all V_d multiples of 4, or all V_d = 2: the 1-hop phase only.
/// Cost     V_1 >= V_2 >= .. >= V_n, M_j = max(V_j, V_(j+1) cyclically)/4: sum(M_j - 1) + 2n steps,
///          each of half of the bundles on average.
/// Links    no link carries two messages in a step: of the virtual nodes on one line, one residue
///          modulo 4 sends '+' and one sends '-'.
/// Source   S. Kim et al., Complete Exchange Algorithms in Wormhole-Routed Torus Networks, stage 2,
///          which takes it from Suh and Shin. Phases 3 and 4 test the coordinate moved in (the text
///          tests others, with which delivery fails); n dimensions and unequal sizes are ours.
class TorusExchange {
 public:
  /// The signs of the last two phases. As printed, for n = 2: in phase 3 both dimensions test the
  /// column q = x_1, in phase 4 both test the parity of the sum p + q. Every node still sends and
  /// receives one message per step, but bundles leave their cells and delivery fails.
  enum class Signs : std::uint8_t { corrected, printed };

  /// The part of one node. \param divisions  k; the topology must fit (see Network)
  /// \param bundle  the digits of the blocks of a bundle, besides those of its cells: its last
  ///                digits
  TorusExchange(const Topology& topology, Rank rank, int divisions = 0, Places bundle = {},
                Signs signs = Signs::corrected);

  /// Steps, the same for every node of the topology.
  Rank steps() const;

  /// Where the exchange expects the blocks, and where it leaves them.
  Layout before() const { return layout(phases_.front(), When::before); }
  Layout after() const { return layout(phases_.back(), When::after); }

  /// Performs all steps.
  void plan(BlockArray& array, const ExchangePhases& names) const;
  /// The same for a node that takes no part: idle, in the same phases.
  void sit_out(BlockArray& array, const ExchangePhases& names) const;

  /// The formulas above, in bundles.
  static Prediction predict(const Topology& topology, int divisions = 0);

 private:
  /// How a phase changes one virtual coordinate. Before it the held bundles have a = x modulo
  /// `before` and floor(b/before) = floor(x/before) there; after it the same with `after`.
  struct Leg {
    Rank before, after;  // equal where it does not move
    int sign = 1;
    bool pairs = false;                               // two nodes exchange; otherwise a ring turns
    Rank hops() const { return before / after - 1; }  // at most, of `after` virtual nodes each
  };
  struct Phase {
    std::vector<Leg> legs;        // of every dimension
    std::vector<int> dimensions;  // that move, in the order of steps
    Rank steps;                   // at least the legs' hops: the longer one of both classes
    int number;                   // as Kim et al. number them, from 1
    std::string_view name(const ExchangePhases& names) const {
      const Rank after = legs[dimensions[0]].after;
      return after == 4   ? names.rings(number)
             : after == 2 ? names.two_hops(number)
                          : names.one_hop(number);
    }
  };
  enum class When { before, after };

  Phase closer(std::vector<int> dimensions, Rank steps, Rank after, int number) const;
  Phase ring_phase(int dimension, Rank steps, int sign, int number) const;
  Phase two_hop_phase(const std::vector<int>& order) const;
  Phase one_hop_phase() const;
  int dimensions() const { return static_cast<int>(sizes_.size()); }

  Layout layout(const Phase& phase, When when) const;
  Slices leaving(const Phase& phase, std::size_t moving, Rank hop) const;

  std::vector<Rank> sizes_;  // V
  std::vector<Rank> x_;
  std::vector<Rank> strides_;  // from one virtual node to the next, in ranks
  Rank spacing_;               // s
  Places bundle_;
  Rank blocks_;  // of all bundles
  Signs signs_;
  std::vector<Phase> phases_;
};

}  // namespace wormcube
