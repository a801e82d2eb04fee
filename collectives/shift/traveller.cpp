// A block on its path in a shift.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/shift/traveller.hpp"

namespace wormcube {

// The block arrives in the result in every second step, so that the last one does; if it starts
// from there, it must be moved away first.
Traveller::Traveller(Node& node, ConstBlocks mine, Blocks result, Rank steps)
    : result_(result[0]),
      spare_(node.memory(steps > 1 || mine[0].data() == result_.data() ? result_.size() : 0)),
      at_(mine[0]),
      left_(steps) {
  const bool in_place = at_.data() == result_.data();
  node.local([&] {
    if (in_place && steps % 2 == 1) copy(at_, spare_.span());
    if (steps == 0) copy(at_, result_);
  });
  if (in_place && steps % 2 == 1) at_ = spare_;
}

Traveller::Places Traveller::next() {
  --left_;
  const Places places{at_, left_ % 2 == 0 ? result_ : spare_.span()};
  at_ = places.arriving;
  return places;
}

}  // namespace wormcube
