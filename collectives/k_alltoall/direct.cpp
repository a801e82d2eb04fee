// k-to-all personalized communication by shifts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/k_alltoall/direct.hpp"

#include "wormcube/collectives/k_to_all/registration.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

namespace wormcube {

void k_alltoall_direct(Node& node, std::span<const Rank> sources, ConstBlocks mine, Blocks blocks) {
  require_ends("k_alltoall_direct", node, Ends::sources, sources, node.size(), mine, blocks);
  const Rank p = node.size(), r = node.rank(), own = number_of(sources, r);
  if (own >= 0) node.local([&] { copy(mine[r], blocks[own]); });
  for (Rank i = 1; i < p; ++i) {
    const Rank to = mod(r + i, p), from = mod(r - i, p), number = number_of(sources, from);
    std::vector<Op> ops;
    if (own >= 0) ops.push_back(send(to, mine[to]));
    if (number >= 0) ops.push_back(receive(from, blocks[number]));
    node.step(ops);
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(k_alltoall_direct){
    .operation = operations::k_alltoall,
    .name = "direct",
    .summary = "in step i each source sends to the node i ranks on; every network, any sources",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.20, for any sources",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .rows = {{"6.4", "", "complete:7"}},
    .predict = [](const Setting& setting) -> Prediction {
      return direct_prediction(setting, [](Rank source, Rank other) {
        return PatternMessage{source, other};
      });
    },
    .program = with_sources<wormcube::k_alltoall_direct>,
};

}  // namespace algorithms

}  // namespace wormcube
