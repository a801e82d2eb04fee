// k-from-all gather by shifts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/k_gather/direct.hpp"

#include "wormcube/collectives/k_to_all/registration.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

namespace wormcube {

void k_gather_direct(Node& node, std::span<const Rank> targets, ConstBlocks mine, Blocks result) {
  require_ends("k_gather_direct", node, Ends::targets, targets, node.size(), mine, result);
  const Rank p = node.size(), r = node.rank(), own = number_of(targets, r);
  if (own >= 0) node.local([&] { copy(mine[own], result[r]); });
  for (Rank i = 1; i < p; ++i) {
    const Rank to = mod(r + i, p), from = mod(r - i, p), number = number_of(targets, to);
    std::vector<Op> ops;
    if (number >= 0) ops.push_back(send(to, mine[number]));
    if (own >= 0) ops.push_back(receive(from, result[from]));
    node.step(ops);
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(k_gather_direct){
    .operation = operations::k_gather,
    .name = "direct",
    .summary =
        "in step i each target hears from the node i ranks before; every network, any targets",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.20, backwards, for any targets",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .predict = [](const Setting& setting) -> Prediction {
      return direct_prediction(setting, [](Rank target, Rank other) {
        return PatternMessage{other, target};
      });
    },
    .program = with_sources<wormcube::k_gather_direct>,
};

}  // namespace algorithms

}  // namespace wormcube
