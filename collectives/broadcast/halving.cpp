// Broadcast by interval halving.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/halving.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>
#include <bit>

namespace wormcube {

void broadcast_halving(Node& node, Span message, Rank root) {
  require_root("broadcast_halving", node.size(), root);
  const Rank r = node.rank();

  // Invariant: of the nodes low .. high-1, r among them, `holder` alone has the message.
  Rank low = 0, high = node.size(), holder = root;
  for (int t = 0; t < log2_ceiling(node.size()); ++t) {
    if (high - low == 1) {
      node.step();
      continue;
    }
    const Rank middle = low + (high - low + 1) / 2;
    const bool from_lower = holder < middle, in_lower = r < middle;
    const Rank heir = from_lower ? middle : low;
    if (r == holder) {
      node.step({send(heir, message)});
    } else if (r == heir) {
      node.step({receive(holder, message)});
    } else {
      node.step();
    }
    (in_lower ? high : low) = middle;
    if (in_lower != from_lower) holder = heir;
  }
}

namespace {

Prediction predict_halving(const Setting& setting) {
  const Topology& topology = setting.topology;
  const double steps = log2_ceiling(topology.nodes());
  Prediction prediction{steps, steps, 0, 0};
  const bool closed_form = [&] {
    for (int d = 0; d < topology.dimensions(); ++d) {
      if (topology.factor(d).shape() == Shape::graph) return false;
    }
    const auto halves = [](Rank size) { return std::has_single_bit(static_cast<unsigned>(size)); };
    return topology.dimensions() == 1 || std::ranges::all_of(topology.sizes(), halves);
  }();
  if (closed_form) {
    prediction.link_load = topology.nodes() > 1 ? 1 : 0;
    prediction.contended_blocks = steps;
  }
  return prediction;
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(broadcast_halving){
    .operation = operations::broadcast,
    .name = "halving",
    .summary = "recursive doubling by interval halving, farthest first; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.1, Eq. 4.1, problem 4.1",
    .exactly_once = true,
    .remark = "free of contention in one dimension, and where all sizes are powers of two",
    .rows = {{"1.2", "", "ring:8"}, {"1.9", "", "complete:9"}, {"1.10", "", "line:7"}},
    .predict = predict_halving,
    .program =
        [](Node& node, const Call& call) {
          wormcube::broadcast_halving(node, call.output.all(), call.arguments.root);
        },
};

}  // namespace algorithms

}  // namespace wormcube
