// k-to-all broadcast on a ring or a line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/k_broadcast/pipelined.hpp"

#include "wormcube/collectives/k_to_all/registration.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm k_broadcast_pipelined;
}

void k_broadcast_pipelined(Node& node, std::span<const Rank> sources, ConstBlocks mine,
                           Blocks blocks) {
  require_network(algorithms::k_broadcast_pipelined, node.topology());
  require_ends("k_broadcast_pipelined", node, Ends::sources, sources, 1, mine, blocks);
  const Rank p = node.size(), r = node.rank(), own = number_of(sources, r);
  if (own >= 0) node.local([&] { copy(mine[0], blocks[own]); });

  const Rank next = mod(r + 1, p), previous = mod(r - 1, p);
  // In step t the block of node r - t arrives, if that is a source, and leaves again in the next.
  for (Rank t = 1; t < p; ++t) {
    const Rank leaving = number_of(sources, mod(r - t + 1, p)),
               coming = number_of(sources, mod(r - t, p));
    std::vector<Op> ops;
    if (leaving >= 0) {
      ops.push_back(send(Move{0, node.topology().factor(0).hops(r, next)}, blocks[leaving]));
    }
    if (coming >= 0) ops.push_back(receive(previous, blocks[coming]));
    node.step(ops);
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(k_broadcast_pipelined){
    .operation = operations::k_broadcast,
    .name = "pipelined",
    .summary = "all broadcasts go round at the same time; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.4",
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"2.10", "", "ring:8"}},
    .needs = {needs::line_or_ring()},
    .instead = {"bruck"},
    .predict = [](const Setting& setting) -> Prediction {
      const double p = setting.topology.nodes();
      return {p - 1, p - 1, 0, 0};
    },
    .program = with_sources<wormcube::k_broadcast_pipelined>,
};

}  // namespace algorithms

}  // namespace wormcube
