// The arithmetic of suh-mesh: the rings of a line, the order of a node's rings, closed-form costs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace wormcube {

/// The order of the ring phases of suh-mesh in three dimensions or more; in two all are equal.
enum class MeshOrder { paper, parity, overlap };
/// The ring over the cells of a mesh line: 0,1,2,.. and back, or 0,2,4,..,5,3,1.
enum class MeshRing { plus, folded };

/// One line of a mesh. Its coordinates fall into cells {0,1}, {2,3}, ..; if the size is odd the
/// last coordinate is a cell of its own, unpaired. The even coordinates, one of each cell, form
/// a ring; so do the odd ones. One ring uses each directed link of the line at most once; the two
/// rings share links and must never be active in the same step.
///
/// A node's blocks are addressed by slots along each dimension. Slots come in pairs, one for each
/// member of the node's ring. Before the ring's turn pair k is for the cell k members ahead; after
/// it pair k has come from k members back and is for the node's own cell. The first of a pair is
/// for the coordinate with the node's parity, the second for its partner, the other of the cell.
///
/// An unpaired coordinate is of the even ring, and odd coordinates never reach its cell. They give
/// the blocks for it to their partners beforehand. Such a block, at a node that is not its source
/// although no ring has moved it, is a guest; guests fill the second slots of that cell. The
/// unpaired node itself has one slot less: it has no partner to give it a guest.
class MeshLine {
 public:
  explicit MeshLine(Rank size, MeshRing ring = MeshRing::plus) : size_(size), ring_(ring) {}

  Rank size() const { return size_; }
  bool has_odd_size() const { return size_ % 2 != 0; }
  bool is_unpaired(Rank x) const { return (x ^ 1) >= size_; }
  /// Members of the ring through x.
  Rank members(Rank x) const { return (size_ + 1 - x % 2) / 2; }
  /// The ring member that is `places` after x; before it if negative.
  Rank ahead(Rank x, Rank places) const;
  Rank slots(Rank x) const { return 2 * members(x) - (is_unpaired(x) ? 1 : 0); }

  struct Ends {
    Rank source, destination;
  };
  /// The ends of the block in a slot of x before the ring's turn.
  Ends ends(Rank x, Rank slot) const;

  // After the ring's turn the slots fall into two halves: 0, what is for x and comes from x's ring;
  // 1, the rest. The rest is for the partner until the exchange with it, and what came from the
  // other ring after it. If x is unpaired, the rest is guests, which are from the other ring from
  // the start.

  Rank in_half(Rank x, int half, bool exchanged) const {
    return half != 0 && (exchanged || is_unpaired(x)) ? size_ - members(x) : members(x);
  }
  /// The slot of the i-th item of a half, before the exchange.
  Rank slot(Rank x, int half, Rank i) const;
  /// Where the i-th item of a half comes from, after the exchange.
  Rank source(Rank x, int half, Rank i) const;

 private:
  Rank size_;
  MeshRing ring_;
};

/// A node's turn on the ring of one dimension. It begins in ring step `start`.
struct RingTurn {
  int dimension;
  Rank start;
};

/// The turns of nodes with these parities (bit d: coordinate d is odd), in time. Sizes are > 1.
///
/// In all orders a line's two rings are separate in time: nodes that differ in the parity of one
/// coordinate are never in that dimension at the same time. Let the dimensions be 1..n, longest
/// first, and W the steps of a dimension's longer ring, ceil(a/2) - 1.
///
///   paper    n phases of W_1 steps. Two dimensions are taken 1,2 if their parities agree and 2,1
///            if not; each further one last by nodes that are even along it, first by odd ones
///            (section 4; read down to a single dimension it would not keep the rings apart).
///   parity   n phases, each as long as its longest ring: 1..n if the sum of parities is even,
///            2..n,1 if it is odd.
///   overlap  no phases: even sums take 1..n back to back; odd ones 2..n back to back, then 1 as
///            soon as the even ones have left it.
///
/// In two dimensions all are the same. A single line is shared: the even ring, then the odd one.
std::vector<RingTurn> ring_turns(std::span<const Rank> sizes, MeshOrder order,
                                 std::uint32_t parities);

/// Steps in which any ring is active.
Rank ring_steps(std::span<const Rank> sizes, MeshOrder order);

/// The cost of suh-mesh in closed form. The largest message of a step is that of the largest group
/// of nodes (same parities) that sends in it: in step s of a turn 2 (members - s) slots times the
/// slots in all other dimensions.
std::int64_t mesh_startups(std::span<const Rank> sizes, MeshOrder order);
std::int64_t mesh_transmission(std::span<const Rank> sizes, MeshOrder order);
std::int64_t mesh_rearranged(std::span<const Rank> sizes, MeshOrder order);
/// The most blocks that a node holds: all sides rounded up to even.
std::int64_t mesh_peak(std::span<const Rank> sizes);

}  // namespace wormcube
