// Total exchange on any number of nodes in the fewest steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"

#include <bit>
#include <vector>

namespace wormcube {

namespace {

/// Slot i: where a node keeps the block that still has distance `i` to go, or has gone it.
///
/// From step to step the block alternates between its place in the result, where it arrives last,
/// and a place of its own in the scratch memory. Slots of one bit arrive once, and need no such
/// place.
class Slots {
 public:
  Slots(Node& node, ConstBlocks out, Blocks in)
      : p_(node.size()),
        r_(node.rank()),
        aside_(p_ - 1 - log2_ceiling(p_)),
        out_(out),
        in_(in),
        scratch_(node.memory(static_cast<Bytes>(aside_) * out.bytes())) {}

  /// Slot i before the step of bit t: untouched, or where it arrived last.
  Span leaving(Rank i, int t) const {
    const Rank done = i & ((1 << t) - 1);
    return done == 0 ? only_read(out_[mod(r_ + i, p_)]) : place(i, t);
  }
  /// Slot i after it: at home, or with higher bits to go.
  Span arriving(Rank i, int t) const { return place(i, t + 1); }

 private:
  /// For slot i with bits from t on to go: it arrives in one place while it leaves the other.
  Span place(Rank i, int t) const {
    const auto slot = static_cast<unsigned>(i);
    if (std::popcount(slot >> t) % 2 == 0) return in_[mod(r_ - i, p_)];
    return Blocks(scratch_.span(), aside_)[i - std::bit_width(slot) - 1];  // without 1, 2, 4, ..
  }

  Rank p_, r_;
  Rank aside_;  // slots of two bits or more
  ConstBlocks out_;
  Blocks in_;
  Memory scratch_;
};

/// Total exchange: node r's block q ends as node q's block r. A block whose destination is i ranks
/// on travels 2^t ranks in each step t whose bit is set in i.
///
/// Network  any, of any p; one-port.
/// Cost     ceil(log2 p) steps; step t moves as many blocks as there are numbers below p with bit
///          t set, p/2 if p is a power of 2: (ts + tw m p/2) log p if links are not shared. Nothing
///          is rearranged, as messages are gathered from where blocks lie.
/// Links    every step is a circular shift: free of contention on hypercubes and complete networks.
/// Source   J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for
///          All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997;
///          for Eq. 4.9 of Grama, Gupta, Karypis, Kumar if p is not a power of 2.
void alltoall_bruck(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank();
  node.local([&] { copy(call.input[r], call.output[r]); });
  const Slots slots(node, call.input, call.output);
  for (int t = 0; 1 << t < p; ++t) {
    std::vector<Span> leaving, arriving;
    for (Rank i = 1 << t; i < p; ++i) {
      if ((i >> t & 1) == 0) continue;
      leaving.push_back(slots.leaving(i, t));
      arriving.push_back(slots.arriving(i, t));
    }
    node.step({send_pieces(mod(r + (1 << t), p), leaving),
               receive_pieces(mod(r - (1 << t), p), arriving)});
  }
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_bruck){
    .operation = operations::alltoall,
    .name = "bruck",
    .summary = "blocks travel 1, 2, 4, .. ranks, by the bits of their distance; every network",
    .source = "Bruck et al. 1997; Grama, Gupta, Karypis, Kumar, Eq. 4.9 for any p",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      PatternSteps steps(setting.topology);
      double transmission = 0;
      for (int t = 0; 1 << t < p; ++t) {
        // Numbers below p with bit t: whole periods, and the rest.
        const Rank half = 1 << t,
                   blocks = p / (2 * half) * half + std::max(0, p % (2 * half) - half);
        transmission += blocks;
        steps.add_permutation(blocks, [=](Rank r) { return mod(r + half, p); });
      }
      return steps.with_loads({log2_ceiling(p), transmission, 0, 0});
    },
    .program = alltoall_bruck,
};

}  // namespace wormcube
