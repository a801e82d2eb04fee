// k-from-all gather by single blocks, on any network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <span>

namespace wormcube {

namespace {

/// k-from-all gather: in step i every target receives its block from the node i ranks before.
///
/// Network  any, of any p, any targets; one-port.
/// Cost     (ts + tw m)(p - 1) if links are not shared.
/// Links    free of contention on hypercubes and complete networks.
void k_gather_direct(Node& node, const Call& call) {
  const std::span<const Rank> targets = sources_of(call.arguments);
  const Rank p = node.size(), r = node.rank(), own = number_of(targets, r);
  if (own >= 0) node.local([&] { copy(call.input[own], call.output[r]); });
  for (Rank i = 1; i < p; ++i) {
    const Rank to = mod(r + i, p), from = mod(r - i, p), number = number_of(targets, to);
    std::vector<Op> ops;
    if (number >= 0) ops.push_back(send(to, call.input[number]));
    if (own >= 0) ops.push_back(receive(from, call.output[from]));
    node.step(ops);
  }
}

}  // namespace

WORMCUBE_ALGORITHM(k_gather_direct){
    .operation = operations::k_gather,
    .name = "direct",
    .summary =
        "in step i each target receives from the node i ranks before it; every network, any "
        "targets",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.20, backwards, for any targets",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .predict = [](const Setting& setting) -> Prediction {
      return direct_prediction(setting, [](Rank target, Rank other) {
        return PatternMessage{other, target};
      });
    },
    .program = k_gather_direct,
};

}  // namespace wormcube
