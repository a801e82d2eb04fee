// The exchange along diagonals of a divided torus: turns, layouts, steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/diagonal_exchange.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <utility>

namespace wormcube {

DiagonalExchange::DiagonalExchange(const Topology& topology, Rank rank, int divisions,
                                   Places bundle)
    : spacing_(1 << divisions), bundle_(std::move(bundle)), blocks_(bundle_.count()) {
  for (const int d : {0, 1}) {
    sizes_[d] = topology.size(d) / spacing_;
    x_[d] = topology.coordinate(rank, d) / spacing_;
    strides_[d] = topology.stride(d) * spacing_;
    blocks_ *= sizes_[d];
  }
  add_turns();
}

/// The steps of the node, in time order.
void DiagonalExchange::add_turns() {
  const Rank longest = std::max(sizes_[0], sizes_[1]), c = mod(x_[1] - x_[0], 4);
  const int first = c % 2 == 0 ? 1 : 0;
  const auto add = [&](std::array<int, 2> order, Rank hop, std::array<Rank, 2> before, Rank after,
                       auto sign) {
    for (const int d : order) {
      turns_.push_back({d, hop, before, after, {sign(x_[0]), sign(x_[1])}});
    }
  };
  for (Rank hop = 1; hop < longest / 4; ++hop) {
    add({first, 1 - first}, hop, sizes_, 4, [&](Rank) { return c < 2 ? 1 : -1; });
  }
  if (longest >= 4) {
    add({first, 1 - first}, 1, {4, 4}, 2, [](Rank own) { return own % 4 < 2 ? 1 : -1; });
  }
  add({1, 0}, 1, {2, 2}, 1, [](Rank own) { return own % 2 == 0 ? 1 : -1; });
}

/// The node's bundles in a phase, as a matrix over both dimensions, the moving one first: in each
/// by the hops of the phase, floor(a/before), b mod after. A bundle keeps its place on every node
/// that it passes. The hops made determine which bundles these are: a dimension has made all of the
/// phase's, or as many of a ring's that the bundle has or has not come round.
Layout DiagonalExchange::layout(const Turn& turn, Made made) const {
  Places places{bundle_.base, {}};
  for (const int d : {turn.moving, 1 - turn.moving}) {
    const Rank before = turn.before[d], rings = before / turn.after, x = x_[d];
    const BlockName source{strides_[d], 0}, destination{0, strides_[d]};
    places.base = places.base + x % turn.after * source + x / before * before * destination;
    Digit hops;
    for (Rank h = 0; h < rings; ++h) {
      const Rank done = std::min(h, made[d]), here = x % before / turn.after;
      const Rank from = mod(here - turn.sign[d] * done, rings);
      hops.push_back(from * turn.after * source +
                     mod(from + turn.sign[d] * h, rings) * turn.after * destination);
    }
    places.digits.push_back(std::move(hops));
    places.digits.push_back(multiples(sizes_[d] / before, before * source));
    places.digits.push_back(multiples(turn.after, destination));
  }
  places.digits.insert(places.digits.end(), bundle_.digits.begin(), bundle_.digits.end());
  return places;
}

/// All hops of the last phase are made: one in each dimension.
Layout DiagonalExchange::after() const { return layout(turns_.back(), {1, 1}); }

std::string_view DiagonalExchange::name(const Turn& turn, const ExchangePhases& names) {
  return turn.after == 4 ? names.rings(1) : turn.after == 2 ? names.two_hops(2) : names.one_hop(3);
}

void DiagonalExchange::plan(BlockArray& array, const ExchangePhases& names) const {
  Made made{0, 0};
  for (std::size_t t = 0; t < turns_.size(); ++t) {
    const Turn& turn = turns_[t];
    const bool is_new = t == 0 || turn.after != turns_[t - 1].after;
    if (t > 0) {
      Layout held = layout(turns_[t - 1], made);
      if (is_new) made = {0, 0};
      array.rearrange(std::move(held), layout(turn, made));
    }
    if (is_new) array.phase(name(turn, names));
    if (!moves(turn)) {  // a shorter ring
      array.idle();
      continue;
    }
    const int d = turn.moving;
    const Move on{d, turn.sign[d] * turn.after * spacing_};
    // With more hops than one a ring turns; with one, two nodes exchange.
    const Move from{d, turn.most_hops() == 1 ? on.hops : -on.hops};
    const Rank same_hops = blocks_ / (turn.most_hops() + 1);
    array.exchange(on, from, {{turn.hop * same_hops, blocks_ - turn.hop * same_hops}});
    ++made[d];
  }
}

void DiagonalExchange::sit_out(BlockArray& array, const ExchangePhases& names) const {
  for (std::size_t t = 0; t < turns_.size(); ++t) {
    if (t == 0 || turns_[t].after != turns_[t - 1].after) array.phase(name(turns_[t], names));
    array.idle();
  }
}

Prediction DiagonalExchange::predict(const Topology& topology, int divisions) {
  const double apart = 1 << divisions;
  const double v = std::max(topology.size(0), topology.size(1)) / apart,
               cells = topology.nodes() / (apart * apart);
  if (v < 4) {
    return {
        .startups = 2, .transmission_blocks = cells, .rearranged_blocks = cells, .hops = 2 * apart};
  }
  return {.startups = v / 2 + 2,
          .transmission_blocks = (v / 4 + 1) * cells,
          .rearranged_blocks = (v / 2 + 1) * cells,
          .hops = apart * (2 * v - 2)};
}

}  // namespace wormcube
