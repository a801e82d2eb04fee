// Circular shift between neighbours on lines, rings, meshes and tori.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/shift/traveller.hpp"

#include <vector>

namespace wormcube {

namespace {

/// The cost of a shift by q in one dimension.
struct Stage {
  int dimension;
  int sign;
  Rank steps;         // of the lines with the most steps
  Rank plain, extra;  // of lines whose blocks did not pass the end of the one before; did
};

Stage stage(const Topology& topology, int d, Rank q) {
  const Rank n = topology.size(d), digit = q / topology.stride(d) % n;
  const bool carries = n > 1 && q % topology.stride(d) != 0;
  const Rank up = digit + (carries ? 1 : 0), down = mod(n - digit, n);
  // Against the direction a carry saves a step; without it the digit 0 costs nothing in either
  // direction.
  if (digit == 0 || up <= down) return {d, +1, up, digit, up};
  return {d, -1, down, down, down - 1};
}

/// The stages for shifts that move anything, the last dimension first.
std::vector<Stage> stages(const Topology& topology, Rank q) {
  std::vector<Stage> all;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Stage one = stage(topology, d, q);
    if (one.steps > 0) all.push_back(one);
  }
  return all;
}

/// Circular shift: node r's block ends at node r + by (modulo p). In each dimension, the last
/// first, blocks move from neighbour to neighbour by their digit of q = by mod p there; those that
/// passed the end of the previous dimension, which lost its length on the way back, move one more
/// ("compensation"). Each dimension is traversed in the direction that takes fewer steps.
///
/// Network  any mesh or torus, of any number of dimensions and any sizes n_d; one-port.
/// Cost     (ts + tw m) times the steps. Ring or line: min(q, p - q). A dimension of size n with
///          digit D: min(D + 1, n - D) if a lower digit is not 0 (then some blocks move one more),
///          else min(D, n - D). On s x s nodes at most s.
/// Links    each link carries one message in a step; on a line the message from one end to the
///          other returns over the reverse links, which are idle otherwise.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.6.1, Fig. 4.22 (a 3-shift on 4 x 4 takes 2 steps,
///          not 1, as 12 blocks need compensation).
void shift_unit_steps(Node& node, const Call& call) {
  const std::int64_t by = call.arguments.by;
  const Topology& topology = node.topology();
  const Rank r = node.rank(), q = shift_distance(by, node.size());
  const std::vector<Stage> all = stages(topology, q);
  // All blocks of one line passed the end before, or none: they came from the same digits.
  const auto own_steps = [&](const Stage& stage) {
    const Rank stride = topology.stride(stage.dimension);
    return r % stride < q % stride ? stage.extra : stage.plain;
  };
  Rank moves = 0;
  for (const Stage& stage : all) moves += own_steps(stage);

  Traveller block(node, call.input, call.output, moves);
  for (const Stage& stage : all) {
    const int d = stage.dimension;
    const Rank n = topology.size(d), c = topology.coordinate(r, d);
    const auto hops = [&](int sign) { return topology.factor(d).hops(c, mod(c + sign, n)); };
    const Rank steps = own_steps(stage);
    for (Rank t = 0; t < steps; ++t) {
      const auto [leaving, arriving] = block.next();
      node.step({send(Move{d, hops(stage.sign)}, leaving),
                 receive(Move{d, hops(-stage.sign)}, arriving)});
    }
    node.idle(static_cast<std::size_t>(stage.steps - steps));
  }
}

}  // namespace

WORMCUBE_ALGORITHM(shift_unit_steps){
    .operation = operations::shift,
    .name = "unit-steps",
    .summary = "blocks move from neighbour to neighbour, dimension by dimension; meshes and tori",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.6.1, Fig. 4.22",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::lines_and_rings()},
    .instead = {"direct"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      double steps = 0;
      for (const Stage& stage :
           stages(topology, shift_distance(setting.arguments.by, topology.nodes()))) {
        steps += stage.steps;
      }
      return {steps, steps, 0, 0};
    },
    .program = shift_unit_steps,
};

}  // namespace wormcube
