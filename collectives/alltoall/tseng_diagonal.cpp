// Tseng, Gupta, Panda: rings of both dimensions by turns, then two hops, then one.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/tseng_diagonal.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_tseng_diagonal;
}

namespace {

/// One dimension in one phase, at coordinate x of a ring. The node holds blocks of `size` pairs
/// (a, b), source's and destination's coordinate. Before the phase a = x modulo `before` and
/// floor(b/before) = floor(x/before), after it the same with `after`.
///
/// A pair has a place in 0 .. size-1, in the order of the hops it makes, and keeps it on every node
/// that it passes.
struct Leg {
  Rank size, x, before, after;
  int sign;

  Rank most_hops() const { return before / after - 1; }
  Rank first_place(Rank hops) const { return size / before * after * hops; }
  Rank place(Rank a, Rank b) const {
    const Rank hops = mod(sign * (b / after - a / after), before / after);
    return first_place(hops) + a / before * after + b % after;
  }
  /// The places of all pairs, in the same order for all legs; `modulus` is `before` or `after`.
  std::vector<Rank> places(Rank modulus) const {
    std::vector<Rank> result;
    result.reserve(static_cast<std::size_t>(size));
    for (Rank i = 0; i < size; ++i) {
      result.push_back(
          place(x % modulus + i / modulus * modulus, x / modulus * modulus + i % modulus));
    }
    return result;
  }
};

/// A step's layout of the array, a matrix of places in both dimensions, that which moves first; and
/// what moves in it: all that makes `hop` hops or more.
struct Turn {
  std::array<Leg, 2> legs;
  int moving;
  Rank hop;

  const Leg& leg() const { return legs[moving]; }
  Rank place(std::array<Rank, 2> places) const {
    return places[moving] * legs[1 - moving].size + places[1 - moving];
  }
  Span going(Span array) const {
    const Blocks rows(array, leg().size);
    const Rank first = leg().first_place(hop);
    return rows.range(first, leg().size - first);
  }
};

/// The steps of a node, in time.
std::vector<Turn> turns(const Topology& topology, Rank rank) {
  const Rank longest = std::max(topology.size(0), topology.size(1));
  const Rank c = mod(topology.coordinate(rank, 1) - topology.coordinate(rank, 0), 4);
  const int first = c % 2 == 0 ? 1 : 0;
  std::vector<Turn> result;
  const auto add = [&](std::array<int, 2> order, Rank hop, Rank before, Rank after, auto sign) {
    std::array<Leg, 2> legs;
    for (int d = 0; d < 2; ++d) {
      const Rank size = topology.size(d), x = topology.coordinate(rank, d);
      legs[d] = {size, x, std::min(size, before), after, sign(x)};
    }
    for (const int d : order) result.push_back({legs, d, hop});
  };
  for (Rank hop = 1; hop < longest / 4; ++hop) {
    add({first, 1 - first}, hop, longest, 4, [&](Rank) { return c < 2 ? 1 : -1; });
  }
  add({first, 1 - first}, 1, 4, 2, [](Rank x) { return x % 4 < 2 ? 1 : -1; });
  add({1, 0}, 1, 2, 1, [](Rank x) { return x % 2 == 0 ? 1 : -1; });
  return result;
}

/// From one step's layout to the next one's.
void rearrange(const Turn& from, const Turn& to, ConstBlocks source, Blocks target) {
  std::array<std::vector<Rank>, 2> old_places, new_places;
  for (int d = 0; d < 2; ++d) {
    const Rank modulus = to.legs[d].before;  // from's too in one phase; from's `after` in the next
    old_places[d] = from.legs[d].places(modulus);
    new_places[d] = to.legs[d].places(modulus);
  }
  for (std::size_t i = 0; i < old_places[0].size(); ++i) {
    for (std::size_t j = 0; j < old_places[1].size(); ++j) {
      copy(source[from.place({old_places[0][i], old_places[1][j]})],
           target[to.place({new_places[0][i], new_places[1][j]})]);
    }
  }
}

/// The place of the block of each node, destination (before all steps) or source (after them).
std::vector<Rank> places_of_nodes(const Turn& turn, bool before) {
  std::vector<Rank> result;
  const auto places = [&](const Leg& leg) { return leg.places(before ? leg.before : leg.after); };
  const std::vector<Rank> columns = places(turn.legs[1]);
  for (const Rank row : places(turn.legs[0])) {
    for (const Rank column : columns) result.push_back(turn.place({row, column}));
  }
  return result;
}

}  // namespace

void alltoall_tseng_diagonal(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_tseng_diagonal, node.topology());
  require_exchange("tseng-diagonal", node.size(), out, in);
  const Rank p = node.size();
  const Memory work = node.memory(out.all().size(), Purpose::blocks);
  const Memory second = node.memory(out.all().size());
  Span held = work, spare = second;
  const std::vector<Turn> steps = turns(node.topology(), node.rank());

  node.local([&] {
    const std::vector<Rank> places = places_of_nodes(steps.front(), true);
    for (Rank q = 0; q < p; ++q) copy(out[q], Blocks(held, p)[places[q]]);
  });
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const Turn& turn = steps[t];
    if (t > 0) {
      node.rearrange(held.size(),
                     [&] { rearrange(steps[t - 1], turn, Blocks(held, p), Blocks(spare, p)); });
      std::swap(held, spare);
    }
    if (turn.hop > turn.leg().most_hops()) {  // a shorter ring
      node.step();
      continue;
    }
    const int hops = turn.leg().sign * turn.leg().after;
    const bool swap = turn.leg().most_hops() == 1;  // two nodes meet; else a ring turns
    const Rank from = node.topology().neighbour(node.rank(), turn.moving, swap ? hops : -hops);
    const Span going = turn.going(held), coming = turn.going(spare);
    node.step({send(Move{turn.moving, hops}, going), receive(from, coming)});
    node.local([&] { copy(coming, going); });
  }
  node.local([&] {
    const std::vector<Rank> places = places_of_nodes(steps.back(), false);
    for (Rank q = 0; q < p; ++q) copy(Blocks(held, p)[places[q]], in[q]);
  });
}

namespace {

Prediction predict(const Setting& setting) {
  const Topology& topology = setting.topology;
  const double a = std::max(topology.size(0), topology.size(1)), p = topology.nodes();
  return {.startups = a / 2 + 2,
          .transmission_blocks = (a / 4 + 1) * p,
          .rearranged_blocks = (a / 2 + 1) * p,
          .working_blocks = p};
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_tseng_diagonal){
    .operation = operations::alltoall,
    .name = "tseng-diagonal",
    .summary = "diagonals, rings of both dimensions by turns; 2-D tori with sizes of 4, 8, ..",
    .source = "Tseng, Gupta, Panda, by their row in Kim et al., Table 1",
    .remark = "reconstruction",
    .needs = {needs::rings(), needs::multiples_of(4), needs::dimensions(2)},
    .instead = "use suh-torus, mesh or shift",
    .predict = predict,
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_tseng_diagonal(node, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
