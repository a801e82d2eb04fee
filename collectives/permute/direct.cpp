// A permutation of nodes in one step, on any network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"
#include "wormcube/collectives/shift/traveller.hpp"

namespace wormcube {

namespace {

/// Permutation: node r's block ends at the node that the permutation names.
///
/// Network  any, with as many nodes as the permutation requires; one-port.
/// Cost     1 step of 1 block, none if every block stays: ts + tw m if links are not shared.
/// Links    on a hypercube, by e-cube routing: complement and shuffle are free of contention; bit
///          reversal and transpose of p = 2^d nodes, d even, load a link with sqrt(p) / 2 messages.
void permute_direct(Node& node, const Call& call) {
  const Permutation& permutation = call.arguments.permutation;
  const Rank p = node.size(), r = node.rank(), to = permutation.destination(r, p);
  Traveller block(node, call.input, call.output, to == r ? 0 : 1);
  if (to != r) {
    const auto [leaving, arriving] = block.next();
    node.step({send(to, leaving), receive(permutation.origin(r, p), arriving)});
  } else if (!permutation.is_identity(p)) {
    node.step();
  }
}

}  // namespace

WORMCUBE_ALGORITHM(permute_direct){
    .operation = operations::permute,
    .name = "direct",
    .summary = "one message from each node to its destination; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.6 and 4.9",
    .exactly_once = true,
    .remark = "hypercubes: complement is free of contention, transpose and bit reversal are not",
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const Permutation& permutation = setting.arguments.permutation;
      PatternSteps steps(setting.topology);
      if (permutation.is_identity(p)) return steps.with_loads({0, 0, 0, 0});
      std::vector<PatternMessage> messages;
      for (Rank r = 0; r < p; ++r) {
        const Rank to = permutation.destination(r, p);
        if (to != r) messages.push_back({r, to});
      }
      steps.add(messages);
      return steps.with_loads({1, 1, 0, 0});
    },
    .program = permute_direct,
};

}  // namespace wormcube
