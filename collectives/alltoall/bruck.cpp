// Total exchange on any number of nodes in the fewest steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bruck.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"

#include <algorithm>
#include <vector>

namespace wormcube {

namespace {

/// Slot i: where a node keeps the block that still has distance `i` to go, or has gone it.
///
/// From step to step the block alternates between its place in the result, where it arrives last,
/// and a place of its own in the scratch memory. Slots of one digit arrive once, and need no such
/// place.
class Slots {
 public:
  Slots(Node& node, Rank radix, ConstBlocks out, Blocks in)
      : p_(node.size()),
        r_(node.rank()),
        radix_(radix),
        aside_(p_ - 1 - of_one_digit(p_ - 1)),
        out_(out),
        in_(in),
        scratch_(node.memory(static_cast<Bytes>(aside_) * out.bytes())) {}

  /// Slot i before the step of its digit at `power`: untouched, or where it arrived last.
  Span leaving(Rank i, Rank power) const {
    return i % power == 0 ? only_read(out_[mod(r_ + i, p_)]) : place(i, i / power);
  }
  /// Slot i after it: at home, or with higher digits to go.
  Span arriving(Rank i, Rank power) const { return place(i, i / power / radix_); }

 private:
  /// For slot i with these digits to go: it arrives in one place while it leaves the other.
  Span place(Rank i, Rank digits) const {
    int moves = 0;
    for (; digits > 0; digits /= radix_) moves += digits % radix_ == 0 ? 0 : 1;
    if (moves % 2 == 0) return in_[mod(r_ - i, p_)];
    return Blocks(scratch_.span(), aside_)[i - 1 - of_one_digit(i)];
  }
  /// The numbers 1 .. i with one digit that is not 0.
  Rank of_one_digit(Rank i) const {
    Rank count = 0;
    for (; i >= radix_; i /= radix_) count += radix_ - 1;
    return count + i;
  }

  Rank p_, r_, radix_;
  Rank aside_;  // slots of two such digits or more
  ConstBlocks out_;
  Blocks in_;
  Memory scratch_;
};

/// Total exchange: node r's block q ends as node q's block r. A block whose destination is i ranks
/// on travels d k^t ranks for each digit d of i to the base k that is not 0, the lowest first.
///
/// Network  any, of any p; one-port.
/// Cost     a step for each number d k^t below p, 0 < d < k: ceil(log2 p) of them for k = 2,
///          (k - 1) h for p = k^h. It moves as many blocks as there are numbers below p with that
///          digit, p/k if p = k^h: (ts + tw m p/2) log p for k = 2, if links are not shared.
///          Nothing is rearranged, as messages are gathered from where blocks lie.
/// Links    every step is a circular shift: free of contention on complete networks, and on
///          hypercubes for k = 2^j.
/// Source   J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for
///          All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997;
///          for Eq. 4.9 of Grama, Gupta, Karypis, Kumar if p is not a power of 2.
void alltoall_bruck(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank(), radix = radix_of(call.options);
  node.local([&] { copy(call.input[r], call.output[r]); });
  const Slots slots(node, radix, call.input, call.output);
  std::vector<Span> leaving, arriving;
  for_each_hop(p, radix, [&](Rank hop, Rank power) {
    leaving.clear(), arriving.clear();
    const std::int64_t period = std::int64_t{power} * radix;
    for (std::int64_t first = hop; first < p; first += period) {
      const auto end = static_cast<Rank>(std::min<std::int64_t>(p, first + power));
      for (auto i = static_cast<Rank>(first); i < end; ++i) {
        leaving.push_back(slots.leaving(i, power));
        arriving.push_back(slots.arriving(i, power));
      }
    }
    node.step({send_pieces(mod(r + hop, p), leaving), receive_pieces(mod(r - hop, p), arriving)});
  });
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_bruck){
    .operation = operations::alltoall,
    .name = "bruck",
    .summary = "blocks travel by the digits of their distance: 1, 2, 4, .. ranks; every network",
    .source = "Bruck et al. 1997; Grama, Gupta, Karypis, Kumar, Eq. 4.9 for any p",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .options = {bruck_radix()},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes(), radix = radix_of(setting.options);
      PatternSteps steps(setting.topology);
      double startups = 0, transmission = 0;
      for_each_hop(p, radix, [&](Rank hop, Rank power) {
        // Numbers below p with this digit: whole periods, and the rest.
        const std::int64_t period = std::int64_t{power} * radix;
        const auto blocks = static_cast<double>(
            p / period * power + std::clamp<std::int64_t>(p % period - hop, 0, power));
        startups += 1, transmission += blocks;
        steps.add_permutation(blocks, [=](Rank r) { return mod(r + hop, p); });
      });
      return steps.with_loads({startups, transmission, 0, 0});
    },
    .program = alltoall_bruck,
};

}  // namespace wormcube
