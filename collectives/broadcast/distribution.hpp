// Along one ring: an informed place informs all others, with several messages in each direction per
// step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/broadcast/itinerary.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>

namespace wormcube {

/// The places that an informed one serves: this many behind it, and this many ahead.
struct Segment {
  int behind = 0, ahead = 0;

  int places() const { return behind + 1 + ahead; }
  bool covers(int offset) const { return -behind <= offset && offset <= ahead; }

  /// All of a ring, half in each direction.
  static Segment around(Rank n) { return {(n - 1) / 2, n / 2}; }
};

/// The distribution of a message along a ring or a piece of one. In each step every informed place
/// divides its segment into 2 `rows` + 1 parts of nearly equal length: it keeps the middle one and
/// sends to the middles of the others. A segment of m places takes ceil(log_{2 rows + 1} m) steps.
///
/// Source  Wang and Tseng, Algebraic Foundations and Broadcasting Algorithms for Wormhole-Routed
///         All-Port Tori, sec. 4; the rounding for any m is ours.
class Distribution {
 public:
  Distribution(Segment whole, int rows) : whole_(whole), rows_(rows) {}

  int steps() const { return rounds(whole_.places(), 2 * rows_ + 1); }

  /// An informed place, and its remaining segment from this step on.
  struct Holder {
    int step;
    Segment segment;
  };

  /// Follows the message to the place at this offset from the first one.
  /// \param hop  hop(step, row, hops) for each message on the path there
  template <class Hop>
  Holder follow(int offset, Hop hop) const {
    Holder holder{0, whole_};
    while (offset != 0) {  // of the target place, from the holder
      Segment next{};
      int row = 0, hops = 0;
      const Segment kept = split(holder.segment, [&](int r, int h, Segment part) {
        if (part.covers(offset - h)) row = r, hops = h, next = part;
      });
      if (kept.covers(offset)) {
        next = kept;
      } else {
        hop(holder.step, row, hops);
        offset -= hops;
      }
      holder = {holder.step + 1, next};
    }
    return holder;
  }

  /// All messages that a holder sends: part(step, row, hops).
  template <class Part>
  void serve(Holder holder, Part part) const {
    for (; holder.segment.places() > 1; ++holder.step) {
      holder.segment =
          split(holder.segment, [&](int row, int hops, Segment) { part(holder.step, row, hops); });
    }
  }

 private:
  /// One step of a holder: part(row, hops, segment) for each message; returns what it keeps.
  template <class Part>
  Segment split(Segment all, Part part) const {
    const int most = (all.places() + 2 * rows_) / (2 * rows_ + 1);  // places per part
    const int low = (most - 1) / 2, high = most / 2;
    const bool leans_ahead = all.behind <= all.ahead;
    const Segment kept{std::min(all.behind, leans_ahead ? low : high),
                       std::min(all.ahead, leans_ahead ? high : low)};
    const auto side = [&](int first, int last, int sign) {
      const int length = last - first + 1;
      for (int row = 0; row < rows_; ++row) {
        const int share = length / rows_ + (row < length % rows_ ? 1 : 0);
        if (share == 0) break;
        const int near = (share - 1) / 2, far = share / 2;
        part(row, sign * (first + near), sign > 0 ? Segment{near, far} : Segment{far, near});
        first += share;
      }
    };
    side(kept.ahead + 1, all.ahead, +1);
    side(kept.behind + 1, all.behind, -1);
    return kept;
  }

  Segment whole_;
  int rows_;
};

/// A coordinate 0 .. n-1 of a ring as an offset inside the segment that covers it.
inline int offset_in(const Segment& ring, Rank coordinate, Rank n) {
  return coordinate <= ring.ahead ? coordinate : coordinate - n;
}

/// The signed hops from 0 to x on a ring: the shorter direction, '+' when equal.
inline int shortest(int x, Rank n) {
  const Rank up = mod(x, n);
  return 2 * up <= n ? up : up - n;
}

}  // namespace wormcube
