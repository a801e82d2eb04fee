// All-gather on any number of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/bruck.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/own_block.hpp"
#include "wormcube/collectives/pattern_load.hpp"

#include <algorithm>
#include <array>

namespace wormcube {

void allgather_bruck(Node& node, ConstBlocks mine, Blocks all) {
  require_allgather("allgather_bruck", node, mine, all);
  const Rank p = node.size(), r = node.rank();
  keep_own(node, mine, all);

  // The blocks of first, first+1, .., which may go on from the beginning.
  const auto run = [&](Rank first, Rank count) {
    const Rank before_end = std::min(count, p - first);
    return std::array{all.range(first, before_end), all.range(0, count - before_end)};
  };
  // Invariant: this node holds the blocks of r, r+1, .., r+held-1.
  for (Rank held = 1; held < p; held *= 2) {
    const Rank count = std::min(held, p - held), from = mod(r + held, p);
    const auto out = run(r, count), in = run(from, count);
    node.step({send_pieces(mod(r - held, p), out), receive_pieces(from, in)});
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(allgather_bruck){
    .operation = operations::allgather,
    .name = "bruck",
    .summary = "twice as much in each step, from 2^t ranks on; every network",
    .source = "Bruck et al. 1997; Grama, Gupta, Karypis, Kumar, Eq. 4.4 for any p",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .rows = {{"2.5", "", "complete:7"}, {"2.5", "", "hypercube:4"}, {"2.12", "", "complete:9"}},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      PatternSteps steps(setting.topology);
      for (Rank held = 1; held < p; held *= 2) {
        steps.add_permutation(std::min(held, p - held), [=](Rank r) { return mod(r - held, p); });
      }
      return steps.with_loads({log2_ceiling(p), p - 1, 0, 0});
    },
    .program = [](Node& node,
                  const Call& call) { wormcube::allgather_bruck(node, call.input, call.output); },
};

}  // namespace algorithms

}  // namespace wormcube
