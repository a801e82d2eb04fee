// Circular shift in one step; and what all shifts share.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/shift/direct.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/pattern_load.hpp"
#include "wormcube/collectives/require.hpp"

#include <fmt/core.h>

namespace wormcube {

void require_shift(std::string_view algorithm, ConstBlocks mine, Blocks result) {
  require_even(algorithm, mine, result);
  if (mine.count() != 1 || result.count() != 1 || mine[0].size() != result[0].size()) {
    throw UsageError(
        fmt::format("{}: {} blocks of {} bytes to send and {} of {} to end with; "
                    "must be 1 and 1 of one size",
                    algorithm, mine.count(), mine.bytes(), result.count(), result.bytes()));
  }
}

// The block arrives in the result in every second step, so that the last one does; and if it starts
// from there, it must be out of the way first.
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

void shift_direct(Node& node, std::int64_t by, ConstBlocks mine, Blocks result) {
  require_shift("shift_direct", mine, result);
  const Rank p = node.size(), r = node.rank(), q = shift_distance(by, p);
  Traveller block(node, mine, result, q == 0 ? 0 : 1);
  if (q == 0) return;
  const auto [leaving, arriving] = block.next();
  node.step({send(mod(r + q, p), leaving), receive(mod(r - q, p), arriving)});
}

namespace algorithms {

WORMCUBE_ALGORITHM(shift_direct){
    .operation = operations::shift,
    .name = "direct",
    .summary = "one message from each node to its destination; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.6.2, Eq. 4.12, Fig. 4.24",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .rows = {{"7.2", "", "ring:8"},
             {"7.2", "", "line:8"},
             {"7.4", "", "mesh:4x4"},
             {"7.4", "", "torus:4x4"},
             {"7.7", "", "hypercube:4"},
             {"7.8", "", "hypercube:4"}},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes(), q = shift_distance(setting.arguments.by, p);
      if (q == 0) return PatternSteps(setting.topology).with_loads({0, 0, 0, 0});
      PatternSteps steps(setting.topology);
      steps.add_permutation(1, [=](Rank r) { return mod(r + q, p); });
      return steps.with_loads({1, 1, 0, 0});
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::shift_direct(node, call.arguments.by, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
