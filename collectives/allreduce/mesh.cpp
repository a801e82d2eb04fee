// All-reduce dimension by dimension of a mesh.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/partial.hpp"
#include "wormcube/runtime/node/views.hpp"

namespace wormcube {

namespace {

/// All nodes' blocks combined in the order of ranks, on every node, with the same bits on all:
/// recursive doubling in all lines of the last dimension, then of the one before, and so on.
///
/// Network  any, of any sides; one-port.
/// Cost     the sum of recursive doubling's over the sides.
/// Links    at most half a side shares a link: on a mesh of s x s, tw m 2(s - 1) in total.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.3 on the networks of 4.2.2.
void allreduce_mesh(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  ConstSpan mine = call.input.all();
  for (int d = node.topology().dimensions() - 1; d >= 0; --d) {
    LineView line = node.along(d);
    allreduce_recursive_doubling(line, call.with(ConstBlocks(mine, 1), call.output));
    mine = call.output.all();
  }
  Partial(node, reduction, mine, call.output.all()).settle();  // a network of no dimensions
}

Prediction predict_mesh(const Setting& setting) {
  const Topology& topology = setting.topology;
  double combined = 0;
  std::vector<Messages> messages;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    combined += log2_ceiling(topology.size(d));
    for (const Messages& of_line : recursive_doubling_messages(topology.size(d))) {
      Messages& step = messages.emplace_back();
      for (Rank r = 0; r < topology.nodes(); ++r) {
        if (topology.coordinate(r, d) != 0) continue;
        for (const Message& m : of_line) {
          step.push_back({topology.with(r, d, m.from), topology.with(r, d, m.to)});
        }
      }
    }
  }
  const auto steps = static_cast<double>(messages.size());
  Prediction prediction{steps, steps, 0};
  prediction.combined_blocks = combined;
  predict_contention(prediction, topology, messages);
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHM(allreduce_mesh){
    .operation = operations::allreduce,
    .name = "mesh",
    .summary =
        "recursive doubling in one dimension after another, last dimension first; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3 and 4.2.2",
    .exactly_once = true,
    .remark = "free of contention on hypercubes, and products of complete networks",
    .predict = predict_mesh,
    .program = allreduce_mesh,
};

}  // namespace wormcube
