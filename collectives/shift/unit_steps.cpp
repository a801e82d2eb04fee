// Circular shift between neighbours, with compensation.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/shift/unit_steps.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/shift/direct.hpp"

#include <vector>

namespace wormcube {

namespace algorithms {
extern const Algorithm shift_unit_steps;
}

namespace {

/// What a shift by q does in one dimension.
struct Stage {
  int dimension;
  int sign;
  Rank steps;         // of the lines that take most
  Rank plain, extra;  // of lines whose blocks did not pass the end of the one before; did
};

Stage stage(const Topology& topology, int d, Rank q) {
  const Rank n = topology.size(d), digit = q / topology.stride(d) % n;
  const bool carries = n > 1 && q % topology.stride(d) != 0;
  const Rank up = digit + (carries ? 1 : 0), down = mod(n - digit, n);
  // Against the direction a carry saves a step; without it the digit 0 costs nothing either way.
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

}  // namespace

void shift_unit_steps(Node& node, std::int64_t by, ConstBlocks mine, Blocks result) {
  require_network(algorithms::shift_unit_steps, node.topology());
  require_shift("shift_unit_steps", mine, result);
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

  Traveller block(node, mine, result, moves);
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

namespace algorithms {

WORMCUBE_ALGORITHM(shift_unit_steps){
    .operation = operations::shift,
    .name = "unit-steps",
    .summary = "from neighbour to neighbour, dimension by dimension; meshes and tori",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.6.1, Fig. 4.22",
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"7.1", "", "ring:8"}, {"7.1", "", "line:8"}, {"7.3", "", "mesh:4x4"}},
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
    .program =
        [](Node& node, const Call& call) {
          wormcube::shift_unit_steps(node, call.arguments.by, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
