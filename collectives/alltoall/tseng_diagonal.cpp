// Tseng, Gupta, Panda: total exchange on a torus along diagonals; a reconstruction.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/block_array.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace wormcube {

namespace {

/// One step: all blocks that make `hop` hops or more along dimension `moving` move one further. In
/// its phase the node's blocks go, in each dimension, from a = x modulo `before` and
/// floor(b/before) = floor(x/before) to the same with `after`: a is the source's coordinate there,
/// b the destination's.
struct Turn {
  int moving;
  Rank hop;
  std::array<Rank, 2> before, after;
  std::array<int, 2> sign;

  Rank most_hops() const { return before[moving] / after[moving] - 1; }
};

/// The steps of a node, in time order.
std::vector<Turn> turns(const Topology& topology, Rank rank) {
  const std::array x{topology.coordinate(rank, 0), topology.coordinate(rank, 1)};
  const std::array size{topology.size(0), topology.size(1)};
  const Rank longest = std::max(size[0], size[1]), c = mod(x[1] - x[0], 4);
  const int first = c % 2 == 0 ? 1 : 0;
  std::vector<Turn> result;
  const auto add = [&](std::array<int, 2> order, Rank hop, std::array<Rank, 2> before, Rank after,
                       auto sign) {
    for (const int d : order) {
      result.push_back({d, hop, before, {after, after}, {sign(x[0]), sign(x[1])}});
    }
  };
  for (Rank hop = 1; hop < longest / 4; ++hop) {
    add({first, 1 - first}, hop, size, 4, [&](Rank) { return c < 2 ? 1 : -1; });
  }
  add({first, 1 - first}, 1, {4, 4}, 2, [](Rank own) { return own % 4 < 2 ? 1 : -1; });
  add({1, 0}, 1, {2, 2}, 1, [](Rank own) { return own % 2 == 0 ? 1 : -1; });
  return result;
}

/// The node's blocks in a phase, as a matrix over both dimensions, the moving one first: in each by
/// the hops of the phase, floor(a/before), b mod after. A block keeps its place on every node that
/// it passes. The hops made determine which blocks these are: a dimension has made all of the
/// phase's (`made`), or as many of a ring's that the block has or has not come round.
Layout layout(const Topology& topology, Rank rank, const Turn& turn, std::array<Rank, 2> made) {
  Places places;
  for (const int d : {turn.moving, 1 - turn.moving}) {
    const Rank before = turn.before[d], after = turn.after[d], rings = before / after;
    const Rank x = topology.coordinate(rank, d), stride = topology.stride(d);
    const BlockName source{stride, 0}, destination{0, stride};
    places.base = places.base + x % after * source + x / before * before * destination;
    Digit hops;
    for (Rank h = 0; h < rings; ++h) {
      const Rank done = std::min(h, made[d]), here = x % before / after;
      const Rank from = mod(here - turn.sign[d] * done, rings);
      hops.push_back(from * after * source +
                     mod(from + turn.sign[d] * h, rings) * after * destination);
    }
    places.digits.push_back(std::move(hops));
    places.digits.push_back(multiples(topology.size(d) / before, before * source));
    places.digits.push_back(multiples(after, destination));
  }
  return places;
}

BlockArray plan_tseng_diagonal(const Topology& topology, Rank rank) {
  BlockArray array(topology.nodes());
  const std::vector<Turn> steps = turns(topology, rank);
  // Hops made in the phase; at the end, all.
  std::array<Rank, 2> made{0, 0};
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const Turn& turn = steps[t];
    const int d = turn.moving;
    if (t == 0) {
      array.lay_out(layout(topology, rank, turn, {0, 0}));
    } else {
      const Turn& last = steps[t - 1];
      const Layout held = layout(topology, rank, last, made);
      if (turn.after != last.after) made = {0, 0};
      array.rearrange(held, layout(topology, rank, turn, made));
    }
    if (t == 0 || turn.after != steps[t - 1].after) {
      array.phase(turn.after[0] == 4   ? "rings of every fourth node"
                  : turn.after[0] == 2 ? "two hops"
                                       : "one hop");
    }
    if (turn.hop > turn.most_hops()) {  // a shorter ring
      array.idle();
      continue;
    }
    const Move on{d, turn.sign[d] * turn.after[d]};
    // With more hops than one a ring turns; with one, two nodes exchange.
    const Move from{d, turn.most_hops() == 1 ? on.hops : -on.hops};
    const Rank same_hops = topology.nodes() / (turn.most_hops() + 1);
    array.exchange(on, from, {{turn.hop * same_hops, topology.nodes() - turn.hop * same_hops}});
    ++made[d];
  }
  array.deliver(layout(topology, rank, steps.back(), made));
  return array;
}

/// Total exchange: node r's block q ends as node q's block r.
///
/// Nodes (i, j) of a diagonal c = (j - i) mod 4 do the same. A block approaches its destination (a,
/// b), dimension by dimension, in three phases: to the same 4 coordinates by hops of 4, to the same
/// 2 by a hop of 2, to the same one by a hop of 1.
///
///   ring steps t.1, t.2   t = 1, 2, ..: c = 0 goes j+4, c = 1 i+4, c = 2 j-4, c = 3 i-4 in t.1,
///                         and in t.2 in the other dimension, with the same sign
///   2-hop steps           even c first j, then i, odd c the reverse;
///                         + if the coordinate that changes is 0 or 1 modulo 4
///   1-hop steps           first j, then i; + if the coordinate that changes is even
///
/// As consecutive steps move in different dimensions, all blocks are rearranged before every step
/// but the first, so that the moving part is one slice.
///
/// Example, 4x4: there is no ring step. The block (2,1)->(3,3) of node (2,1), c = 3, makes no hop
/// of 2 along i and one along j. A place has for each dimension, the moving one first, the hops and
/// the destination's coordinate mod 2: for i 0,1, for j 1,1, place 7 of 16. It stays in the first
/// step. For the second, along j, it is in place 1101 = 13, and goes '+' to (2,3), place 13. For
/// the 1-hop steps the hops precede half the source's coordinate: for j 0,0, for i 1,1, place 3; it
/// stays. For the last step it is in place 1100 = 12, and goes '+' to (3,3).
///
/// Network  torus of two dimensions, each a multiple of 4 (published: N x N, N = 2^n); one-port.
/// Cost     a = max(rows, columns): a/2 + 2 steps, (a/4 + 1) p blocks, (a/2 + 1) p rearranged.
/// Links    no link carries two messages in a step: on one line one residue of four sends '+' and
///          one sends '-'.
/// Source   reconstructed from what S. Kim et al., "Complete Exchange Algorithms in
///          Wormhole-Routed Torus Networks", report of their ref. [10], Y. Tseng, S. Gupta, D.
///          Panda: diagonals, contention-free, and the costs of Table 1, which this matches. The
///          order of its messages is not claimed to be theirs.
void alltoall_tseng_diagonal(Node& node, const Call& call) {
  const auto& planned = node.plan<BlockArray>(
      "tseng-diagonal", {}, [&] { return plan_tseng_diagonal(node.topology(), node.rank()); });
  planned.run(node, call.input, call.output);
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_tseng_diagonal){
    .operation = operations::alltoall,
    .name = "tseng-diagonal",
    .summary = "diagonals, rings of both dimensions in turn; 2-D tori with sizes of 4, 8, ..",
    .source = "Tseng, Gupta, Panda, by their row in Kim et al., Table 1",
    .contention_free = true,
    .exactly_once = true,
    .remark = "reconstruction",
    .needs = {needs::rings(), needs::multiples_of(4), needs::dimensions(2)},
    .instead = {"suh-torus", "mesh", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double a = std::max(topology.size(0), topology.size(1)), p = topology.nodes();
      return {.startups = a / 2 + 2,
              .transmission_blocks = (a / 4 + 1) * p,
              .rearranged_blocks = (a / 2 + 1) * p,
              .working_blocks = p,
              .hops = 2 * a - 2};
    },
    .program = alltoall_tseng_diagonal,
};

}  // namespace wormcube
