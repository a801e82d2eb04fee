// k-to-all broadcast on a ring or a line: broadcasts that follow one another round it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <span>

namespace wormcube {

namespace {

/// k-to-all broadcast: the blocks of k source nodes end at every node. Every broadcast goes once
/// round, from neighbour to neighbour, and all go at the same time without meeting.
///
/// Network  one ring or line of any p, sources anywhere; one-port. On a line the messages from the
///          last node to the first return over the reverse links, which are idle otherwise.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1) for any k; k broadcasts one after
///          another cost (ts + tw m) k log p, which is more from k > (p - 1)/log p on.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.2.4 (which says p steps).
void k_broadcast_pipelined(Node& node, const Call& call) {
  const std::span<const Rank> sources = sources_of(call.arguments);
  const Rank p = node.size(), r = node.rank(), own = number_of(sources, r);
  if (own >= 0) node.local([&] { copy(call.input[0], call.output[own]); });

  const Rank next = mod(r + 1, p), previous = mod(r - 1, p);
  // In step t the block of node r - t arrives, if that is a source, and leaves again in the next.
  for (Rank t = 1; t < p; ++t) {
    const Rank leaving = number_of(sources, mod(r - t + 1, p)),
               coming = number_of(sources, mod(r - t, p));
    std::vector<Op> ops;
    if (leaving >= 0) {
      ops.push_back(send(Move{0, node.topology().factor(0).hops(r, next)}, call.output[leaving]));
    }
    if (coming >= 0) ops.push_back(receive(previous, call.output[coming]));
    node.step(ops);
  }
}

}  // namespace

WORMCUBE_ALGORITHM(k_broadcast_pipelined){
    .operation = operations::k_broadcast,
    .name = "pipelined",
    .summary = "all broadcasts travel around at the same time; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.4",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::line_or_ring()},
    .instead = {"bruck"},
    .predict = [](const Setting& setting) -> Prediction {
      const double p = setting.topology.nodes();
      return {p - 1, p - 1, 0, 0};
    },
    .program = k_broadcast_pipelined,
};

}  // namespace wormcube
