// The exchange among the cells of a divided torus: suh-torus, and the middle of Kim's algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/cost.hpp"
#include "wormcube/runtime/node.hpp"

#include <vector>

namespace wormcube {

/// `core(k)`: a torus that was divided k times consists of cells of s = 2^k nodes a side, and of
/// subnetworks: the nodes that agree in every coordinate modulo s, one to a cell. A subnetwork is a
/// torus of V_d = size(d)/s virtual nodes, x_d = floor(coordinate/s), whose links are s hops long;
/// no two subnetworks share a link. In each, every node starts with one bundle (some blocks, all
/// bundles of one size) for every cell and ends with one from every cell.
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
/// Layout. Within a phase a bundle never changes its slot: it is sent from a slot and received into
/// the same slot of the next node. Slots are in the order of the bundles' hops in the phase, in
/// Gray order where several dimensions move, so that a message is one slice of the array; with
/// n >= 3 dimensions the last two phases gather up to 2^(n-2). Every node rearranges its whole
/// array once before each phase except the first.
///
/// Network  torus of n >= 2 rings; all V_d multiples of 4, or all V_d = 2: the 1-hop phase only.
/// Cost     V_1 >= V_2 >= .. >= V_n, M_j = max(V_j, V_(j+1) cyclically)/4: sum(M_j - 1) + 2n steps,
///          each of half of the bundles on average.
/// Links    no link carries two messages in a step: of the virtual nodes on one line, one residue
///          modulo 4 sends '+' and one sends '-'.
/// Source   S. Kim et al., Complete Exchange Algorithms in Wormhole-Routed Torus Networks, stage 2,
///          which takes it from Suh and Shin. Phases 3 and 4 test the coordinate moved in (the text
///          tests others, with which delivery fails); n dimensions and unequal sizes are ours.
class TorusCore {
 public:
  /// What one node does. \param divisions  k; the topology must fit (see Network)
  TorusCore(const Topology& topology, Rank rank, int divisions = 0);

  /// Virtual nodes of a subnetwork, which is the number of bundles that a node holds.
  Rank cells() const { return cells_; }
  /// Steps, the same for every node of the topology.
  int steps() const;

  /// The slot in which the exchange expects the bundle for each cell. Cells are numbered row-major.
  std::vector<Rank> first_slots() const;
  /// The slot in which the exchange leaves the bundle from each cell.
  std::vector<Rank> last_slots() const;

  /// Takes all steps.
  /// \param held   cells() bundles; in the end the one of the two arrays that has them
  /// \param spare  as many bytes, to receive and rearrange in; in the end the other array
  void exchange(Node& node, Span& held, Span& spare) const;
  /// Takes as many empty steps: for nodes that are of no subnetwork.
  void idle(Node& node) const;

  /// The formulas above, in bundles.
  static Prediction predict(const Topology& topology, int divisions = 0);

 private:
  /// What a phase does to one virtual coordinate. Before it the held bundles have a = x modulo
  /// `before` and floor(b/before) = floor(x/before) there; after it the same with `after`.
  struct Leg {
    Rank before, after;
    int sign = 1;
    Rank weight = 0;                  // of the hops here in the number of a bundle's group
    Rank hops(Rank a, Rank b) const;  // of `after` virtual nodes each
    Rank most_hops() const { return before / after - 1; }
  };
  struct Phase {
    std::vector<Leg> legs;        // of every dimension; before == after where it does not move
    std::vector<int> dimensions;  // that move, in the order of steps
    int steps;                    // at least the legs' hops: the longer one of both classes
    Rank groups;                  // bundles of one group make the same hops
  };
  enum class When { before, after };

  std::vector<Rank> slots(const Phase& phase, When when) const;
  void rearrange(Node& node, const Phase& from, const Phase& to, Span& held, Span& spare) const;
  void run(Node& node, const Phase& phase, Span held, Span spare) const;
  void pieces(const Phase& phase, const Leg& leg, Rank hop, Span array,
              std::vector<Span>& pieces) const;

  std::vector<Rank> sizes_;  // V
  std::vector<Rank> x_;
  Rank spacing_;  // s
  Rank cells_ = 1;
  std::vector<Phase> phases_;
};

}  // namespace wormcube
