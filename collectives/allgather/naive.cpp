// All-gather as one broadcast after another.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

/// All-gather: every node broadcasts its block, one node after another.
///
/// Network  any; one-port.
/// Cost     p ceil(log2 p) steps of 1 block: (ts + tw m) p log p, a ring takes tw m (p - 1).
/// Links    those of broadcast_halving.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.2: the naive approach.
void allgather_naive(Node& node, const Call& call) {
  const Rank r = node.rank();
  node.local([&] { copy(call.input[0], call.output[r]); });
  for (Rank root = 0; root < node.size(); ++root) {
    broadcast_halving(node, call.output[root], root);
  }
}

}  // namespace

WORMCUBE_ALGORITHM(allgather_naive){
    .operation = operations::allgather,
    .name = "naive",
    .summary = "a broadcast from one node after another; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2",
    .exactly_once = true,
    .remark = "a baseline: p broadcasts",
    .predict = [](const Setting& setting) -> Prediction {
      const double p = setting.topology.nodes();
      Prediction prediction = predict_halving(setting);
      for (auto* count :
           {&prediction.startups, &prediction.transmission_blocks, &prediction.link_blocks}) {
        if (*count) **count *= p;
      }
      prediction.working_blocks = 0;
      return prediction;
    },
    .selection = Selection::by_name,
    .program = allgather_naive,
};

}  // namespace wormcube
