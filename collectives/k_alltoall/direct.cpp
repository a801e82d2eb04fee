// k-to-all personalized communication on any network, from any sources.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <span>

namespace wormcube {

namespace {

/// k-to-all personalized: block q of each of k source nodes ends at node q. In step i each source
/// sends to the node i ranks on.
///
/// Network  any, of any p, sources anywhere; one-port.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1) if links are not shared; nothing is
///          rearranged.
/// Links    every step is part of a circular shift: free of contention on hypercubes and complete
///          networks, and anywhere from one source.
/// Source   Grama, Gupta, Karypis, Kumar, problem 4.20, for any sources; sec. 4.5.3 and 4.6
///          (shifts).
void k_alltoall_direct(Node& node, const Call& call) {
  const std::span<const Rank> sources = sources_of(call.arguments);
  const Rank p = node.size(), r = node.rank(), own = number_of(sources, r);
  if (own >= 0) node.local([&] { copy(call.input[r], call.output[own]); });
  for (Rank i = 1; i < p; ++i) {
    const Rank to = mod(r + i, p), from = mod(r - i, p), number = number_of(sources, from);
    std::vector<Op> ops;
    if (own >= 0) ops.push_back(send(to, call.input[to]));
    if (number >= 0) ops.push_back(receive(from, call.output[number]));
    node.step(ops);
  }
}

}  // namespace

WORMCUBE_ALGORITHM(k_alltoall_direct){
    .operation = operations::k_alltoall,
    .name = "direct",
    .summary = "in step i each source sends to the node i ranks ahead; every network, any sources",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.20, for any sources",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .predict = [](const Setting& setting) -> Prediction {
      return direct_prediction(setting, [](Rank source, Rank other) {
        return PatternMessage{source, other};
      });
    },
    .program = k_alltoall_direct,
};

}  // namespace wormcube
