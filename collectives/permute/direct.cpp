// A permutation in one step.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/permute/direct.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/pattern_load.hpp"
#include "wormcube/collectives/shift/direct.hpp"

namespace wormcube {

void permute_direct(Node& node, Permutation permutation, ConstBlocks mine, Blocks result) {
  require_shift("permute_direct", mine, result);
  require_permutation("permute_direct", permutation, node.size());
  const Rank p = node.size(), r = node.rank(), partner = permuted(permutation, r, p);
  Traveller block(node, mine, result, partner == r ? 0 : 1);
  if (partner != r) {
    const auto [leaving, arriving] = block.next();
    node.step(exchange(partner, leaving, arriving));  // its own inverse
  } else if (!is_identity(permutation, p)) {
    node.step();
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(permute_direct){
    .operation = operations::permute,
    .name = "direct",
    .summary = "one message from each node to its destination; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.6 and 4.9",
    .exactly_once = true,
    .remark = "hypercubes: complement is free of contention, transpose and bit reversal are not",
    .rows = {{"7.9", "", "hypercube:4"}},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const Permutation permutation = setting.arguments.permutation;
      PatternSteps steps(setting.topology);
      if (is_identity(permutation, p)) return steps.with_loads({0, 0, 0, 0});
      std::vector<PatternMessage> messages;
      for (Rank r = 0; r < p; ++r) {
        const Rank to = permuted(permutation, r, p);
        if (to != r) messages.push_back({r, to});
      }
      steps.add(messages);
      return steps.with_loads({1, 1, 0, 0});
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::permute_direct(node, call.arguments.permutation, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
